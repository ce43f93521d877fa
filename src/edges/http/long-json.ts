import { createHash } from 'node:crypto'
import { Turns } from '../../kernel/turns.ts'

/** Values with longer lists are serialized in turns with other requests: one of thousands of commits has several megabytes. */
const longFrom = 200
/** Characters that are encoded and hashed at a time. */
const sliceLength = 128 * 1024

export type EncodedJson = { readonly bytes: Buffer; readonly md5: string }

/** The value is a long list, or has one among its properties. */
export const isLongJson = (value: unknown): boolean =>
  isLongList(value) || (isRecord(value) && Object.values(value).some(isLongList))

/** What `JSON.stringify` makes of a value for which `isLongJson` is true, and the MD5 of these bytes in hex. */
export async function encodeLongJson(value: unknown): Promise<EncodedJson> {
  const turns = new Turns()
  const md5 = createHash('md5')
  const slices: Buffer[] = []
  let text = ''
  const encode = () => {
    const slice = Buffer.from(text)
    md5.update(slice)
    slices.push(slice)
    text = ''
  }
  for (const part of partsOf(value)) {
    text += part
    if (text.length < sliceLength) continue
    encode()
    if (turns.isOver) await turns.next()
  }
  encode()
  return { bytes: Buffer.concat(slices), md5: md5.digest('hex') }
}

function* partsOf(value: unknown): Generator<string> {
  if (isLongList(value)) {
    for (let index = 0; index < value.length; index++)
      yield `${index === 0 ? '[' : ','}${JSON.stringify(value[index]) ?? 'null'}`
    yield ']'
    return
  }
  let before = '{'
  for (const [name, property] of Object.entries(value as object)) {
    const start = `${before}${JSON.stringify(name)}:`
    if (isLongList(property)) {
      yield start
      yield* partsOf(property)
    } else {
      const text = JSON.stringify(property)
      if (text === undefined) continue
      yield start + text
    }
    before = ','
  }
  yield '}'
}

const isLongList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > longFrom

const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
