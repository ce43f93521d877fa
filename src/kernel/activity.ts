/** What a process is doing: numbers of HTTP requests, transfers (git packs and large files), and jobs. */
export type Busy = Readonly<{ requests: number; transfers: number; jobs: number }>

export const idle: Busy = { requests: 0, transfers: 0, jobs: 0 }

/** Counts the running work of one process, so that a stop can report what it waits for. */
export class Activity {
  readonly #counts: { -readonly [kind in keyof Busy]: number } = { ...idle }

  get busy(): Busy {
    return { ...this.#counts }
  }

  /** Counts one more of the kind, until the returned function is called. */
  begin(kind: keyof Busy): () => void {
    let isOver = false
    this.#counts[kind]++
    return () => {
      if (isOver) return
      isOver = true
      this.#counts[kind]--
    }
  }
}
