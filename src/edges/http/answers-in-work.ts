import { LRUCache } from 'lru-cache'
import type { Endpoint } from '../../api/endpoint.ts'
import { refusal } from '../../kernel/shares.ts'
import type { Exchange } from './answer.ts'
import { onEnd } from './disconnect.ts'

/** Limits on the lists and other possibly large answers that a process makes for one caller at a time. */
export type AnswerLimits = {
  /** Answers at a time. */
  readonly usual: number
  /** The same for a while after an answer of more than `heavyBytes`. */
  readonly heavy: number
  readonly heavyBytes: number
  readonly heavyForMs: number
  /** A larger answer counts until the client has it, because it is in memory until then. */
  readonly keptBytes: number
  /** Maximum waiting requests of a caller. */
  readonly waiting: number
}

/**
 * A list of a hundred records, each with a text of a million characters, takes up to a second of the process and a few times its size
 * in memory. The first ones of a caller are made before it is known that they are large.
 */
const usualLimits: AnswerLimits = {
  usual: 4,
  heavy: 2,
  heavyBytes: 4 * 1024 * 1024,
  heavyForMs: 60_000,
  keptBytes: 1024 * 1024,
  waiting: 300,
}

/** Answers that do not wait for those of another kind. */
export type AnswerKind = 'list' | 'content' | 'difference'

/** Whether the answer may be large: a list, or a record that is declared so. */
export function answerKind({ method, paged, large, returns }: Endpoint): AnswerKind | undefined {
  if (method !== 'GET' || returns === null || 'raw' in returns) return undefined
  return large ?? (paged || 'list' in returns ? 'list' : undefined)
}

/** The answer to one request; `release` may be called repeatedly. */
export type AnswerInWork = {
  /** It had to wait: what is known of the caller may have changed. */
  readonly waited: boolean
  /** The answer has been made, with these bytes. True if it counts until `release` is called, otherwise it was. */
  made(bytes: number): boolean
  release(): void
}

type Line = { running: number; readonly waiting: Set<() => void> }

/** Shares of a process's memory and time for answers: what exceeds the share of its caller waits, others do not. */
export class AnswersInWork {
  readonly #limits: AnswerLimits
  readonly #lines = new Map<string, Line>()
  readonly #heavy: LRUCache<string, true>

  constructor(limits: AnswerLimits = usualLimits) {
    this.#limits = limits
    this.#heavy = new LRUCache({ max: 10_000, ttl: limits.heavyForMs })
  }

  /** Resolves when the answer may be made. Those of a caller wait for others of their kind only. */
  async enter(caller: string, kind: AnswerKind, signal?: AbortSignal): Promise<AnswerInWork> {
    signal?.throwIfAborted()
    const key = `${kind} ${caller}`
    const line = this.#lines.get(key) ?? { running: 0, waiting: new Set() }
    this.#lines.set(key, line)
    const waited = line.running >= this.#allowed(caller)
    if (waited) await this.#wait(line, signal)
    else line.running++
    let isOver = false
    const release = () => {
      if (isOver) return
      isOver = true
      line.running--
      this.#startNext(line, caller)
      if (line.running === 0 && line.waiting.size === 0) this.#lines.delete(key)
    }
    const made = (bytes: number) => {
      if (bytes > this.#limits.heavyBytes) this.#heavy.set(caller, true)
      if (bytes > this.#limits.keptBytes) return true
      release()
      return false
    }
    return { waited, made, release }
  }

  #allowed(caller: string): number {
    return this.#heavy.has(caller) ? this.#limits.heavy : this.#limits.usual
  }

  async #wait(line: Line, signal: AbortSignal | undefined): Promise<void> {
    if (line.waiting.size >= this.#limits.waiting) throw refusal({ full: 'caller' }, 'their answers')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      if (line.waiting.delete(resolve)) reject(signal!.reason)
    }
    line.waiting.add(resolve)
    signal?.addEventListener('abort', leave, { once: true })
    try {
      await promise
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  /** Each in a turn of the event loop of its own, so that other requests are served between two large answers. */
  #startNext(line: Line, caller: string): void {
    while (line.running < this.#allowed(caller)) {
      const [next] = line.waiting
      if (!next) return
      line.waiting.delete(next)
      line.running++
      setImmediate(next)
    }
  }
}

/** The answer counts until the client has it, if it is large. On a connection where others come first, it can be sent after them only. */
export function leaveOnceSent(work: AnswerInWork, { res, req, answeredBytes = 0 }: Exchange): void {
  if (work.made(answeredBytes) && res.socket !== null) onEnd({ req, res }, work.release)
  else work.release()
}
