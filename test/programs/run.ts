import { execFileSync, fork, spawnSync } from 'node:child_process'
import { mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Call, type Ended, frame, partsOf } from './frames.ts'

/*
 * Runs programs as `execFile` and `execFileSync` do, but starts them from a small process (`starter.ts`). For programs that
 * tests run often.
 */

export type RunOptions = {
  cwd?: string
  /** The whole environment; that of the tests without. */
  env?: Readonly<Record<string, string | undefined>>
  input?: Buffer | string
  /** The program gets SIGTERM after this time. */
  timeoutMs?: number
}

/** What a program printed. A program that fails is an error with `code`, `signal`, `stdout` and `stderr`. */
export type Printed = { stdout: string; stderr: string }

export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Printed> {
  return printed(program, args, await starter().run(callOf(program, args, options)))
}

export function runSync(program: string, args: readonly string[], options: RunOptions = {}): Printed {
  const call = callOf(program, args, options)
  return printed(program, args, call.input.length > maxPipedBytes ? runHere(call) : starter().runSync(call))
}

/** Larger input takes longer through the pipe than the fork of this process. */
const maxPipedBytes = 1024 * 1024

function runHere({ program, args, cwd, env, input, timeoutMs }: Call): Ended {
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: env as NodeJS.ProcessEnv,
    input,
    timeout: timeoutMs,
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  return { code: status, signal, stdout, stderr, failure: error?.message }
}

const callOf = (
  program: string,
  args: readonly string[],
  { cwd, env = process.env, input = '', timeoutMs }: RunOptions,
): Call => ({
  program,
  args,
  cwd,
  env,
  input: Buffer.from(input as string),
  timeoutMs,
})

function printed(program: string, args: readonly string[], ended: Ended): Printed {
  const { code, signal, failure } = ended
  const output = { stdout: ended.stdout.toString(), stderr: ended.stderr.toString() }
  if (code === 0) return output
  const message = failure ?? `Command failed: ${[program, ...args].join(' ')}\n${output.stderr}`
  throw Object.assign(new Error(message), { code, signal, ...output })
}

class Starter {
  readonly #child
  readonly #calls: number
  readonly #answers: number
  readonly #waiting = new Map<number, PromiseWithResolvers<Ended>>()
  #count = 0

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'stithy-starter-'))
    const [calls, answers] = [join(folder, 'calls'), join(folder, 'answers')]
    execFileSync('mkfifo', [calls, answers])
    this.#child = fork(fileURLToPath(new URL('./starter.ts', import.meta.url)), [calls, answers], {
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child.on('message', ({ id, ended }: { id: number; ended: Ended }) => {
      this.#waiting.get(id)!.resolve(ended)
      this.#waiting.delete(id)
      if (this.#waiting.size === 0) this.#child.channel?.unref()
    })
    this.#child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the process that starts programs has ended'))
    })
    // Each waits until the other end is opened.
    this.#calls = openSync(calls, 'w')
    this.#answers = openSync(answers, 'r')
    rmSync(folder, { recursive: true })
    // The worker ends although this process lives, and this process ends with the worker.
    this.#child.unref()
    this.#child.channel?.unref()
  }

  run(call: Call): Promise<Ended> {
    const id = ++this.#count
    const waiting = Promise.withResolvers<Ended>()
    this.#waiting.set(id, waiting)
    this.#child.channel?.ref()
    this.#child.send({ id, call })
    return waiting.promise
  }

  /** Blocks this thread until the program has ended. */
  runSync({ input, ...call }: Call): Ended {
    const message = frame(call, input)
    for (let at = 0; at < message.length; ) at += writeSync(this.#calls, message, at)
    const [head, stdout, stderr] = partsOf(this.#read(this.#read(4).readUInt32BE()))
    return { ...JSON.parse(String(head)), stdout, stderr }
  }

  #read(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let at = 0; at < length; ) {
      const count = readSync(this.#answers, bytes, at, length - at, null)
      if (count === 0) throw new Error('the process that starts programs has ended')
      at += count
    }
    return bytes
  }
}

let started: Starter | undefined
const starter = (): Starter => (started ??= new Starter())
