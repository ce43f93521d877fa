import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/processes/testing/launch.ts'
import { eventually } from '../waiting.ts'

const program = join(import.meta.dirname, '.installed', 'versitygw')

/** Whether test/s3/install has built the server. */
export const hasS3: boolean = existsSync(program)

/** Where the AWS SDK finds the credentials of all servers, also in services that tests start. */
export const s3Env = {
  AWS_ACCESS_KEY_ID: 'test-access-key',
  AWS_SECRET_ACCESS_KEY: 'test-secret-key',
  AWS_EC2_METADATA_DISABLED: 'true',
} as const

/** A server of the S3 protocol with its own folder, on this machine. */
export class S3Server implements AsyncDisposable {
  readonly port: number
  readonly folder: string
  #process: ChildProcess

  private constructor(port: number, folder: string, process: ChildProcess) {
    this.port = port
    this.folder = folder
    this.#process = process
  }

  static async start(): Promise<S3Server> {
    Object.assign(process.env, s3Env)
    const folder = await mkdtemp(join(tmpdir(), 'stithy-s3-'))
    await Promise.all([mkdir(join(folder, 'data')), mkdir(join(folder, 'facts'))])
    const port = await freePort()
    return new S3Server(port, folder, await run(port, folder))
  }

  /** URL of a store in a new bucket. `port` is that of a proxy. */
  async bucket(name: string, { port = this.port, prefix = 'blobs' } = {}): Promise<string> {
    await mkdir(join(this.folder, 'data', name), { recursive: true })
    return `s3://${name}/${prefix}?endpoint=http://127.0.0.1:${port}`
  }

  /** Paths of the files of a bucket: the objects, and the parts of unfinished uploads in the folder `.sgwtmp`. */
  async files(bucket: string): Promise<string[]> {
    const folder = join(this.folder, 'data', bucket)
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  }

  /** Ends the server at once, as a power loss would. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }

  /** After `kill`: the same port and objects. `secret` replaces the key of all clients. */
  async restart(secret?: string): Promise<void> {
    this.#process = await run(this.port, this.folder, secret)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    await rm(this.folder, { recursive: true, force: true })
  }
}

async function run(port: number, folder: string, secret: string = s3Env.AWS_SECRET_ACCESS_KEY): Promise<ChildProcess> {
  const child = spawn(
    program,
    [
      ...['--access', s3Env.AWS_ACCESS_KEY_ID, '--secret', secret, '--region', 'us-east-1', '--quiet'],
      ...['--port', `127.0.0.1:${port}`, '--health', '/healthz'],
      ...['posix', '--sidecar', join(folder, 'facts'), join(folder, 'data')],
    ],
    { stdio: 'ignore' },
  )
  process.once('exit', () => child.kill('SIGKILL'))
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`versitygw ended with ${child.exitCode}`)
    await fetch(`http://127.0.0.1:${port}/healthz`)
  })
  return child
}
