/** What a statement sees: the committed transactions, and the date, because access expires by date. */
export class Moment {
  /** `xmin:xmax:running date`, of which `running` are the transactions in progress before `xmax`. */
  readonly text: string
  readonly #date: string
  /** Transactions before this one are complete. */
  readonly begin: string
  /** Transactions from this one on are not visible. */
  readonly end: string
  /** Transactions before `end` that are not visible. */
  readonly running: readonly string[]

  constructor(text: string) {
    this.text = text
    const [snapshot, date] = text.split(' ') as [string, string]
    const [begin, end, running] = snapshot.split(':') as [string, string, string]
    this.#date = date
    this.begin = begin
    this.end = end
    this.running = running === '' ? [] : running.split(',')
  }

  /** Whether a transaction that has been committed was visible. */
  sees(transaction: string): boolean {
    return BigInt(transaction) < BigInt(this.end) && !this.running.includes(transaction)
  }

  /** Whether everything that is visible at this moment is visible at the other one, too, which is of the same server. */
  isWithin(other: Moment): boolean {
    const end = BigInt(this.end)
    if (end > BigInt(other.end)) return false
    return other.running.every((id) => BigInt(id) >= end || this.running.includes(id))
  }

  isOfDate(other: Moment): boolean {
    return this.#date === other.#date
  }
}
