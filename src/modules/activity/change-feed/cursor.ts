import type { Position } from '../../../events/log.ts'

/** A position as clients send it back. */
export const cursorOf = ({ txid, id }: Position): string => `${txid}-${id}`

const maxTxid = 2n ** 64n - 1n

/** `undefined` if the text is no cursor. */
export function positionOf(cursor: string): Position | undefined {
  const [, txid, id] = /^(\d{1,20})-(\d{1,15})$/.exec(cursor) ?? []
  return txid === undefined || BigInt(txid) > maxTxid ? undefined : { txid, id: Number(id) }
}
