/** Work shared by several callers; aborted when the last of them has disconnected. */
export class SharedWork<Result> {
  readonly #abandoned = new AbortController()
  readonly #result: Promise<Result>
  /** Resolves when the work has settled, even after a failure. */
  readonly over: Promise<void>
  #waiting = 0

  /** `work` gets a signal that aborts when no caller waits any more. */
  constructor(work: (gone: AbortSignal) => Promise<Result>) {
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
  wait(gone: AbortSignal | undefined): Promise<Result> {
    this.#waiting++
    if (!gone) return this.#result
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const leave = () => {
      reject(gone.reason)
      if (--this.#waiting === 0) this.#abandoned.abort(gone.reason)
    }
    if (gone.aborted) leave()
    else gone.addEventListener('abort', leave, { once: true })
    const stay = () => gone.removeEventListener('abort', leave)
    this.#result.then(resolve, reject).finally(stay)
    return promise
  }
}
