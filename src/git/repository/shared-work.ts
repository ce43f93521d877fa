/** Work that some wait for, each of whom may leave: it is told to end when the last of them has. */
export class SharedWork<Result> {
  readonly #abandoned = new AbortController()
  readonly #result: Promise<Result>
  /** Resolves when it has ended, however it did. */
  readonly over: Promise<void>
  #waiting = 0

  /** `work` gets the signal that nobody waits for it any more. */
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

  /** The result; rejects with the reason of `gone` as soon as that is aborted. Without a signal one stays to the end. */
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
