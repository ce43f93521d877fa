import type { Config } from '../config.ts'
import type { Busy } from '../kernel/activity.ts'

/** Services that the primary process has started for the others. */
export type Services = Readonly<{
  databaseUrl: string
  runnerSocket: string
  /** Collects the metrics of all workers; only in workers. */
  metrics?: () => Promise<string>
  /** Whether the workers listen on the same port with one queue each, among which the kernel distributes connections. */
  sharesPorts?: boolean
}>

export interface App extends AsyncDisposable {
  /** Resolves when the ports are open. Rejects if an address is in use. */
  listen(): Promise<void>
  /**
   * Resolves when jobs are taken. Calls `onBroken` at most once, when jobs are no longer taken and only a new process helps.
   */
  runJobs(onBroken: (error: Error) => void): Promise<void>
  /** What this process is doing now. */
  busy(): Busy
  /**
   * Stops accepting requests and jobs, lets running ones finish within `graceMs`, and hands back the rest. Must itself close
   * connections that become idle meanwhile (`server.close()` closes only those idle at once); otherwise a browser delays the
   * stop for all of it.
   */
  stop(graceMs: number): Promise<void>
}

export type Credentials = { username: string; password: string; token: string }

export type TokenRequest = {
  username: string
  scopes: readonly string[]
  name: string
  /** `2027-01-31`; absent for the maximum that the settings allow. */
  expiresOn?: string
}

/** What `stithy doctor` asks a database server. */
export type DatabaseFacts = {
  version: string
  /** `server_version_num`, such as 160004. */
  versionNumber: number
  encoding: string
  /** Its clock minus that of this machine, in ms. Exact to half the time of a round trip. */
  clockAheadMs: number
  /** Connections that it accepts. */
  maxConnections: number
}

/** What `stithy blobs move` did. Without `complete`, problems prevented the end of the move. */
export type MovedBlobs = {
  readonly from: string
  readonly copied: number
  readonly copiedBytes: number
  readonly problems: readonly string[]
  readonly complete: boolean
}

/** Where backups are, and the file with their key. */
export type BackupPlace = { readonly url: string; readonly keyFile: string | undefined }

/** The process, for others that use the same backups; `isGone` compares such names. */
export type ProcessName = { readonly name: string; isGone(name: string): boolean }

export type BackupRequest = BackupPlace & {
  /** Read all files again. */
  readonly full: boolean
  readonly holder: ProcessName
}

export type BackupFacts = {
  readonly id: string
  /** ISO 8601. */
  readonly moment: string
  readonly version: string
  readonly bytes: number
  /** What it has added to the store. */
  readonly storedBytes: number
  readonly repositories: number
  readonly blobs: number
  readonly rows: number
  /** What could not be backed up; one sentence each. */
  readonly problems: readonly string[]
}

export type RestoreRequest = BackupPlace & {
  /** Absent: the newest backup. */
  readonly id: string | undefined
  /** Sends no mails and hooks, and is an installation of its own. */
  readonly quiet: boolean
}

/** What `stithy user` does with an account. */
export type UserAction = 'reset-password' | 'unlock' | 'unblock' | 'make-admin'

/** The exports of `src/commands.ts` that the processes use. The message of a `Failure` is shown to the user as one sentence. */
export type AppModule = {
  /** Loads the code that only this role needs, so that it is there when the database is. */
  preload(role: 'worker' | 'jobs'): Promise<void>
  createApp(config: Config, services: Services): Promise<App>
  /**
   * Fails if the database is newer than this version, if it and the data folder belong to different installations, or if the file of keys
   * is missing that decrypts its secrets. Must run before `migrate`; changes nothing.
   */
  requireOwn(config: Config, databaseUrl: string): Promise<void>
  /** The columns of the database with secrets that no key of the data folder decrypts, as `table.column`. */
  findUnreadable(config: Config, databaseUrl: string): Promise<readonly string[]>
  /** Migrates the schema, under a lock in the database; reports steps that take long to `progress`. */
  migrate(databaseUrl: string, progress: (line: string) => void): Promise<void>
  /** Creates the first administrator from `config.root`, both parts of which are set; undefined if one exists. */
  bootstrap(config: Config, databaseUrl: string): Promise<Credentials | undefined>
  /** Pairs database and data folder. The caller holds the lock of the data folder. Returns their id. */
  adopt(config: Config, databaseUrl: string): Promise<string>
  /** Returns the token; only its digest is stored. */
  createToken(config: Config, services: Services, request: TokenRequest): Promise<string>
  inspectDatabase(databaseUrl: string): Promise<DatabaseFacts>
  /** Calls `print` with one line for each user. */
  listUsers(databaseUrl: string, print: (line: string) => void): Promise<void>
  /** Returns what was done, as lines of text. Fails if there is no such user. */
  changeUser(config: Config, services: Services, username: string, action: UserAction): Promise<readonly string[]>
  /**
   * Encrypts all secrets with a new key and removes the old one. The caller holds the lock of the data folder. After a crash, a
   * second call completes the rotation. Returns the number of encrypted values.
   */
  rotateSecrets(config: Config, databaseUrl: string): Promise<number>
  /**
   * Writes, reads and deletes a few bytes where blobs are: in the store of the setting without a database. The message of the failure
   * says what does not work.
   */
  probeBlobs(config: Config, databaseUrl: string | undefined): Promise<void>
  /** Moves all blobs to the store at the URL `to`, also while the service runs. Repeating it continues an interrupted move. */
  moveBlobs(
    config: Config,
    databaseUrl: string,
    options: { to: string; skipDamaged: boolean },
    progress: (line: string) => void,
  ): Promise<MovedBlobs>
  /** Makes a backup, also while the service runs, and removes old ones if that is configured. */
  backup(
    config: Config,
    databaseUrl: string,
    request: BackupRequest,
    progress: (line: string) => void,
  ): Promise<{ made: BackupFacts; removed: number }>
  /** All complete backups, oldest first, and a sentence for each that cannot be read. */
  listBackups(place: BackupPlace): Promise<{ backups: readonly BackupFacts[]; problems: readonly string[] }>
  /** A backup by its id, or the newest one. */
  findBackup(place: BackupPlace, id: string | undefined): Promise<BackupFacts>
  /** Reads everything of one backup or of all; one sentence for each problem, and for each file that a restore leaves out. */
  verifyBackups(
    place: BackupPlace,
    id: string | undefined,
    progress: (line: string) => void,
  ): Promise<{ problems: readonly string[]; leftOut: readonly string[]; backups: number; bytes: number }>
  /**
   * Restores a backup into the data folder and the database of `config`, which are empty. The caller holds the lock of the data
   * folder and has marked it as unfinished. Also returns a sentence for each file of the backup that was left out.
   */
  restore(
    config: Config,
    databaseUrl: string,
    request: RestoreRequest,
    progress: (line: string) => void,
  ): Promise<{ made: BackupFacts; leftOut: readonly string[] }>
  /** Compares database, repositories and blobs; one sentence for each problem. `readsBlobs` reads every blob in full. */
  checkData(
    config: Config,
    services: Services,
    options: { readonly readsBlobs: boolean },
    progress: (line: string) => void,
  ): Promise<readonly string[]>
}

/** `url` is a `file:` URL, because several processes import the module. */
export const loadAppModule = async (url: string): Promise<AppModule> => (await import(url)) as AppModule
