/** Work shared by several callers; aborted when the last of them has disconnected. */
export class SharedWork<Result> {
  readonly #abandoned = new AbortController()
  readonly #result: Promise<Result>
  /** Resolves when the work has settled, even after a failure. */
  readonly over: Promise<void>
  #waiting = 0

  /** `work` gets a signal that aborts when no caller waits any more. */
  constructor(work: (signal: AbortSignal) => Promise<Result>) {
    this.#result = work(this.#abandoned.signal)
    this.over = this.#result.then(
      () => {},
      () => {},
    )
  }

  get isAbandoned(): boolean {
    return this.#abandoned.signal.aborted
  }

  /** The result; rejects with the reason of `signal` as soon as it aborts. A caller without a signal waits to the end. */
  wait(signal: AbortSignal | undefined): Promise<Result> {
    this.#waiting++
    if (!signal) return this.#result
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const leave = () => {
      reject(signal.reason)
      if (--this.#waiting === 0) this.#abandoned.abort(signal.reason)
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    const stay = () => signal.removeEventListener('abort', leave)
    this.#result.then(resolve, reject).finally(stay)
    return promise
  }
}
