/** A priority queue of numbers: highest key first, first in first out among equal keys. */
export class StableQueue {
  #items: number[] = []
  #keys: number[] = []
  #turns: number[] = []
  #turn = 0

  push(item: number, key: number): void {
    const turn = this.#turn++
    let at = this.#items.length
    for (let parent = (at - 1) >> 1; at > 0; parent = (at - 1) >> 1) {
      // Among equal keys, the newest item stays behind.
      if (key <= this.#keys[parent]!) break
      this.#move(parent, at)
      at = parent
    }
    this.#items[at] = item
    this.#keys[at] = key
    this.#turns[at] = turn
  }

  pop(): number | undefined {
    const first = this.#items[0]
    const item = this.#items.pop()
    const key = this.#keys.pop()
    const turn = this.#turns.pop()
    const size = this.#items.length
    if (size === 0 || item === undefined || key === undefined || turn === undefined) return first
    let at = 0
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.#isBefore(child + 1, this.#keys[child]!, this.#turns[child]!)) child++
      if (!this.#isBefore(child, key, turn)) break
      this.#move(child, at)
      at = child
    }
    this.#items[at] = item
    this.#keys[at] = key
    this.#turns[at] = turn
    return first
  }

  #isBefore(at: number, key: number, turn: number): boolean {
    const own = this.#keys[at]!
    return own > key || (own === key && this.#turns[at]! < turn)
  }

  #move(from: number, to: number): void {
    this.#items[to] = this.#items[from]!
    this.#keys[to] = this.#keys[from]!
    this.#turns[to] = this.#turns[from]!
  }
}
