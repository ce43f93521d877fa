/** A byte range, both ends inclusive. */
export type Range = { readonly start: number; readonly end: number }

/**
 * The part of `sizeBytes` bytes that a Range header requests (RFC 9110, 14). `undefined` for the whole, also for several ranges
 * or an unknown unit, which servers may ignore; `unsatisfiable` if the range is outside.
 */
export function parseRange(header: string | undefined, sizeBytes: number): Range | undefined | 'unsatisfiable' {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  const start = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  return start > end ? 'unsatisfiable' : { start, end }
}
