/**
 * Admits a bounded number of jobs at once. Waiting jobs are taken in turns by owner, so one busy repository does not
 * make the others wait for its whole backlog.
 */
export class FairQueue<Job extends { owner: string }> {
  readonly #slots: number
  readonly #maxWaiting: number
  readonly #start: (job: Job) => void
  readonly #waiting = new Map<string, Job[]>()
  #running = 0
  #count = 0

  constructor(slots: number, maxWaiting: number, start: (job: Job) => void) {
    this.#slots = slots
    this.#maxWaiting = maxWaiting
    this.#start = start
  }

  /** False when too many wait already. */
  add(job: Job): boolean {
    if (this.#running < this.#slots) {
      this.#running++
      this.#start(job)
      return true
    }
    if (this.#count >= this.#maxWaiting) return false
    this.#count++
    const line = this.#waiting.get(job.owner)
    if (line) line.push(job)
    else this.#waiting.set(job.owner, [job])
    return true
  }

  /** Takes back a job that has not started. False when it has. */
  remove(job: Job): boolean {
    const line = this.#waiting.get(job.owner)
    const index = line?.indexOf(job) ?? -1
    if (!line || index < 0) return false
    line.splice(index, 1)
    if (line.length === 0) this.#waiting.delete(job.owner)
    this.#count--
    return true
  }

  /** A started job is over: its slot goes to the owner who waited longest. */
  release(): void {
    this.#running--
    const next = this.#waiting.entries().next().value
    if (!next) return
    const [owner, line] = next
    // Map order is the order of turns: an owner with more to do goes to the back.
    this.#waiting.delete(owner)
    const job = line.shift()!
    if (line.length > 0) this.#waiting.set(owner, line)
    this.#count--
    this.#running++
    this.#start(job)
  }
}
