/** Distance between issues that are placed one after the other: a place can be halved twenty times before neighbours move. */
export const step = 2 ** 20

/** Smallest distance that spreading leaves between issues, unless they are the last ones. */
const smallestGap = 2 ** 10

/** A position between two others; undefined if there is no room. An absent neighbour is the end of the order. */
export function positionBetween(before: number | undefined, after: number | undefined): number | undefined {
  if (before === undefined) return after === undefined ? 0 : after - step
  if (after === undefined) return before + step
  const middle = Math.floor((before + after) / 2)
  return before < middle && middle < after ? middle : undefined
}

/** Positions at equal distances for issues between two positions, in order; undefined if there is not enough room. */
export function spread(before: number, count: number, after: number | undefined): number[] | undefined {
  const gap = after === undefined ? step : Math.floor((after - before) / (count + 1))
  return gap < smallestGap ? undefined : Array.from({ length: count }, (_, index) => before + gap * (index + 1))
}
