import { Worker } from 'node:worker_threads'
import type { Ctx } from '../../../api/ctx.ts'
import { SharedSlots } from '../../../kernel/shares.ts'
import { invalid, type Lint, type ReadFile, refusedAtOnce } from './result.ts'

export type Task = { readonly text: string; readonly includeJobs: boolean }

export type FromThread = { readonly read: string } | { readonly lint: Lint }
export type ToThread = Awaited<ReturnType<ReadFile>>

/** A check of the largest file takes about a second on an idle machine. Also limits the time in which included files are read. */
const usualTimeoutMs = 20_000
const maxHeapMb = 128

const tooComplex = invalid('the configuration is too complex')

const checks = new SharedSlots('pipeline checks', { slots: 3, maxWaiting: 60 })

/** Checks a configuration within the caller's share of threads. One that is empty or too large needs none. */
export const checkPipeline = async (ctx: Ctx, task: Task, readFile: ReadFile): Promise<Lint> =>
  refusedAtOnce(task.text) ??
  checks.run(ctx.shareKey, () => checkInThread(task, readFile, { signal: ctx.signal }), ctx.signal)

/**
 * Checks a configuration in a thread of its own, because a hostile one may take any time and memory. A check that exceeds the
 * timeout or the memory ends with an error in its result. Rejects with the reason of `signal`, and with errors of `readFile`.
 */
export async function checkInThread(
  task: Task,
  readFile: ReadFile,
  { timeoutMs = usualTimeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<Lint> {
  signal?.throwIfAborted()
  const thread = new Worker(new URL('./thread.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  })
  const { promise, resolve, reject } = Promise.withResolvers<Lint>()
  const timeout = setTimeout(() => resolve(tooComplex), timeoutMs)
  const abort = () => reject(signal!.reason)
  signal?.addEventListener('abort', abort, { once: true })
  thread.on('message', (message: FromThread) => {
    if ('lint' in message) resolve(message.lint)
    else readFile(message.read).then((file) => thread.postMessage(file), reject)
  })
  thread.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve(tooComplex)
    else reject(error)
  })
  thread.on('exit', () => reject(new Error('the thread of a pipeline check ended early')))
  try {
    return await promise
  } finally {
    clearTimeout(timeout)
    signal?.removeEventListener('abort', abort)
    await thread.terminate()
  }
}
