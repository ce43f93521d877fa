/** Work in rounds: between two it sleeps until something wakes it, or until the time that the last round has named. */
export class Loop {
  readonly #round: () => Promise<number>
  #isOver = false
  /** Set by news that the running round may have missed. */
  #hasNews = true
  #wake: (() => void) | undefined
  #running: Promise<void> | undefined

  /** `round` resolves with the milliseconds until the next one, if no news comes; it does not reject. */
  constructor(round: () => Promise<number>) {
    this.#round = round
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** There may be something to do. */
  wake(): void {
    this.#hasNews = true
    this.#wake?.()
  }

  /** Resolves when the last round has ended. */
  async stop(): Promise<void> {
    this.#isOver = true
    this.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      this.#hasNews = false
      const sleepMs = await this.#round()
      if (!this.#hasNews) await this.#sleep(sleepMs)
    }
  }

  #sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#wake = resolve
    return promise.finally(() => {
      clearTimeout(timer)
      this.#wake = undefined
    })
  }
}
