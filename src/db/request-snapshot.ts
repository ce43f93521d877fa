/**
 * The snapshot that a request has seen since it began. Until its answer is complete, cached rows of that snapshot are exact for the
 * request without another check: they are what the database contained at a moment after the request had begun. The request forgets the
 * snapshot when it reads without the cache, so that it never reads an older state than before, and when this process commits.
 */
export class RequestSnapshot {
  #snapshot: string | undefined
  /** Commits of this process when the request looked. */
  #commits = 0
  /** How often the request has forgotten it. */
  #forgotten = 0
  #isOver = false

  /** Whether the request has seen this snapshot, and the process has committed nothing since. */
  has(snapshot: string, commits: number): boolean {
    return this.#snapshot === snapshot && this.#commits === commits
  }

  /** Begins to look at the database. What it returns takes the snapshot, which counts unless it was forgotten meanwhile. */
  looking(commits: number): (snapshot: string) => void {
    const forgotten = this.#forgotten
    return (snapshot) => {
      if (this.#isOver || this.#forgotten !== forgotten) return
      this.#snapshot = snapshot
      this.#commits = commits
    }
  }

  forget(): void {
    this.#snapshot = undefined
    this.#forgotten++
  }

  /** The answer is complete: whatever is read from now on is checked again. */
  end(): void {
    this.#isOver = true
    this.#snapshot = undefined
  }
}
