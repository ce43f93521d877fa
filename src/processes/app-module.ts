import type { Config } from '../config.ts'

/** What the primary has started for everybody else. */
export type Services = Readonly<{
  databaseUrl: string
  runnerSocket: string
  /** The figures of all workers, in a worker of several. */
  metrics?: () => Promise<string>
}>

export interface App extends AsyncDisposable {
  /** Resolves when requests are taken. Rejects when the address is taken. */
  listen(): Promise<void>
  /** Resolves when jobs are taken. `onBroken` is called, at most once, when they no longer are: only a new process helps. */
  runJobs(onBroken: (error: Error) => void): Promise<void>
  /**
   * Takes nothing new, lets what runs finish for at most `graceMs`, hands back the rest. Must itself close connections
   * that become idle meanwhile (`server.close()` closes only those that are), or a browser makes us wait for all of it.
   */
  stop(graceMs: number): Promise<void>
}

export type Credentials = { username: string; password: string; token: string }

export type TokenRequest = {
  username: string
  scopes: readonly string[]
  name: string
  /** `2027-01-31`; absent for as long as the settings allow. */
  expiresOn?: string
}

/** What `src/commands.ts` exports and the processes use. A `Failure` that it throws is shown to the person as one sentence. */
export type AppModule = {
  createApp(config: Config, services: Services): Promise<App>
  /** Refuses a database of another installation than that of the data folder. Comes before `migrate`, and changes nothing. */
  requireOwn(config: Config, databaseUrl: string): Promise<void>
  /** Brings the schema up to date, under a lock in the database; `progress` is told of steps that take long. */
  migrate(databaseUrl: string, progress: (line: string) => void): Promise<void>
  /** Creates the first administrator from `config.root`, both parts of which are set; undefined when there is one. */
  bootstrap(config: Config, databaseUrl: string): Promise<Credentials | undefined>
  /** Makes database and data folder belong together. The caller holds the lock of the data folder. Returns their id. */
  adopt(config: Config, databaseUrl: string): Promise<string>
  /** Returns the token, which is not kept in clear anywhere. */
  createToken(databaseUrl: string, request: TokenRequest): Promise<string>
  /** Compares database, repositories and blobs; one sentence for each thing that is wrong. */
  checkData(config: Config, services: Services, progress: (line: string) => void): Promise<readonly string[]>
}

/** `url` is a `file:` URL, because the module is loaded in several processes. */
export const loadAppModule = async (url: string): Promise<AppModule> => (await import(url)) as AppModule
