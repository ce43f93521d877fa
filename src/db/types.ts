import pg from 'pg'

/** A timestamp in the format of API records: `2020-04-22T10:00:00.000Z`. As text, timestamps sort by time. */
export type Timestamp = string
/** `YYYY-MM-DD`. */
export type DateOnly = string

const int8 = 20
const int8Array = 1016
const date = 1082
const timestamptz = 1184

/**
 * Converts `2020-04-22 10:00:00.123456+00` to `2020-04-22T10:00:00.123Z`. Connections use UTC, so the zone is always `+00`; slicing
 * costs a tenth of the conversion to and from a Date.
 */
export function toTimestamp(text: string): Timestamp {
  const fraction =
    text.length > 22 && text[19] === '.'
      ? text
          .slice(20, text.length - 3)
          .padEnd(3, '0')
          .slice(0, 3)
      : '000'
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`
}

const toNumbers = (text: string): number[] => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number))

const parsers: Record<number, (text: string) => unknown> = {
  [int8]: Number,
  [int8Array]: toNumbers,
  [date]: (text) => text,
  [timestamptz]: toTimestamp,
}

/** Converts column values to JavaScript: ids are numbers, dates and timestamps are strings in the format of the API. */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    parsers[oid] ?? pg.types.getTypeParser(oid, format as 'text')) as pg.CustomTypesConfig['getTypeParser'],
}
