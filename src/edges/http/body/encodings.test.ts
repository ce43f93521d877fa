import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { type TSchema, Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileParams } from '../../../api/params/compile.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import type { RawParams, RawValue } from '../../../api/params/raw.ts'
import {
  CommaList,
  DateOnly,
  Decimal,
  File,
  FilePath,
  Filled,
  Flag,
  Hash,
  Id,
  IdOrName,
  List,
  ListOr,
  Nullable,
  OneOf,
  Optional,
  Params,
  Text,
  Timestamp,
  Whole,
  WholeOr,
} from '../../../api/params/types.ts'
import { UploadedFile } from '../../../api/params/uploaded-file.ts'
import { mergeRaw } from './merge.ts'
import { readBody } from './read-body.ts'
import { parseUrlencoded } from './urlencoded.ts'

let tmpDir: string
beforeAll(async () => {
  tmpDir = await mkdtemp(join(tmpdir(), 'stithy-encodings-'))
})
afterAll(() => rm(tmpDir, { recursive: true }))

const limits = { bytes: 8 * 1024 * 1024, fileBytes: () => 1000, files: 3 }

/** Form fields equivalent to the tree. Forms cannot express empty lists and hashes. */
function fieldsOf(raw: RawValue, name: string): [string, string][] {
  if (raw === null) return [[name, '']]
  if (Array.isArray(raw)) return raw.flatMap((element) => fieldsOf(element, `${name}[]`))
  if (typeof raw !== 'object' || raw instanceof UploadedFile) return [[name, String(raw)]]
  return Object.entries(raw).flatMap(([key, value]) => fieldsOf(value!, name === '' ? key : `${name}[${key}]`))
}

const readRaw = async (headers: Record<string, string>, body: Buffer): Promise<RawParams> =>
  (await readBody({ method: 'POST', headers, body, limits, tmpDir })).params

const encodings: Record<string, (tree: RawParams) => Promise<RawParams>> = {
  json: (tree) => readRaw({ 'content-type': 'application/json' }, Buffer.from(JSON.stringify(tree))),
  form: (tree) =>
    readRaw(
      { 'content-type': 'application/x-www-form-urlencoded' },
      Buffer.from(new URLSearchParams(fieldsOf(tree, '')).toString()),
    ),
  query: async (tree) => parseUrlencoded(new URLSearchParams(fieldsOf(tree, '')).toString()),
  multipart: (tree) => {
    // By hand, because FormData turns lone line breaks into pairs.
    const parts = fieldsOf(tree, '').map(
      ([name, value]) => `--XX\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    return readRaw({ 'content-type': 'multipart/form-data; boundary=XX' }, Buffer.from(`${parts.join('')}--XX--\r\n`))
  },
}

const types: Record<string, TSchema> = {
  text: Text(),
  'filled text': Filled(),
  'text or null': Nullable(Text()),
  'file path': FilePath(),
  flag: Flag(),
  whole: Whole({ minimum: 1 }),
  'whole or null': Nullable(Whole()),
  id: Id(),
  decimal: Decimal(),
  timestamp: Timestamp(),
  date: DateOnly(),
  'date or null': Nullable(DateOnly()),
  word: OneOf(['asc', 'desc']),
  level: OneOf([10, 20, 30]),
  'word or level': OneOf([0, 'none']),
  'whole or word': WholeOr(['None', 'Any']),
  'list or word': ListOr(Id(), ['None', 'Any']),
  'id or name': IdOrName(),
  'list of ids': List(Id()),
  'list of texts': List(Text(), { single: true, maxItems: 10 }),
  'list of words': List(OneOf(['a', 'b']), { blank: false }),
  labels: CommaList(Text()),
  'list of hashes': List(Params({ action: OneOf(['create']), path: Text(), force: Flag({ default: false }) })),
  hash: Params({ labels: Optional(CommaList(Text())), iid: Optional(Whole()) }),
  'free hash': Hash(),
  'free hash of texts': Hash(Text()),
  file: File(),
  'file or null': Nullable(File()),
  'plain string': Type.String({ minLength: 2 }),
  'plain integer': Type.Integer(),
  'plain union': Type.Union([Type.Integer(), Type.Boolean(), Type.Null()]),
  'plain record': Type.Record(Type.String(), Type.Integer()),
  anything: Type.Unknown(),
}

const shapes: Record<string, RawValue> = {
  array: ['1', 'a'],
  'array of arrays': [['1'], ['2']],
  'array of hashes': [{ a: '1' }, { action: 'create', path: 'x' }],
  'array of null': [null],
  'empty array': [],
  hash: { a: '1', __proto__: null },
  'hash of arrays': { labels: ['a'], iid: [1] },
  'indexed hash': { 0: '1', 1: '2' },
  'empty hash': {},
  'deep hash': { a: { b: { c: { d: { e: { f: { g: '1' } } } } } } },
  null: null,
  empty: '',
  blank: ' ',
  number: 7,
  'negative number': -1,
  fraction: 1.5,
  'huge number': 1e300,
  'number beyond int4': 2 ** 31,
  'number beyond int8': '9223372036854775808',
  true: true,
  false: false,
  word: 'asc',
  NUL: 'a\0b',
  'a megabyte': 'x'.repeat(1_000_000),
  'a megabyte of digits': '1'.repeat(1_000_000),
  'a megabyte of commas': ','.repeat(1_000_000),
  'a megabyte of brackets': '['.repeat(1_000_000),
  'a megabyte of blanks': ' '.repeat(1_000_000),
  date: '2020-02-29',
  'invalid date': '2020-02-30',
}

const undefinedOrError = async (read: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await read()
  } catch (error) {
    return error
  }
}

describe('every parameter type with every shape in every encoding', () => {
  const methods = ['GET', 'POST', 'PUT']
  test.for(
    Object.keys(encodings).flatMap((encoding) => Object.keys(shapes).map((shape) => [encoding, shape] as const)),
  )('in %s, %s is accepted or refused with a ParameterError', async ([encoding, shape]) => {
    const tree = await undefinedOrError(() => encodings[encoding]!({ x: shapes[shape]! }))
    if (tree instanceof Error) {
      expect(tree).toBeInstanceOf(ParameterError)
      return
    }
    for (const [name, type] of Object.entries(types)) {
      for (const schema of [Params({ x: type }), Params({ x: Optional(type) })]) {
        const read = compileParams(schema)
        for (const method of methods) {
          const outcome = await undefinedOrError(async () => read(tree as RawParams, method))
          if (outcome instanceof Error) expect({ name, outcome }).toEqual({ name, outcome: expect.any(ParameterError) })
          else expect(Object.keys(outcome as object).filter((key) => key !== 'x')).toEqual([])
        }
      }
    }
  })
})

describe('D1-PARAM-ENCODINGS', () => {
  const everything = Params({
    name: Text(),
    ids: List(Id()),
    labels: Optional(CommaList(Text())),
    flag: Flag(),
    since: Timestamp(),
    level: OneOf([10, 20]),
    page: Whole({ default: 1 }),
    due: Optional(Nullable(DateOnly())),
    custom: Hash(Text()),
    not: Optional(Params({ state: OneOf(['opened', 'closed']), iids: List(Whole()) })),
    actions: List(Params({ action: OneOf(['create', 'delete']), content: Text(), force: Optional(Flag()) })),
  })

  const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''))
  const key = fc.string({ unit: fc.constantFrom(...'abcdefgh_'), minLength: 1 })
  const day = fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString())
  const tree = fc.record({
    name: text,
    ids: fc.array(fc.nat(), { minLength: 1 }),
    labels: text,
    flag: fc.boolean(),
    since: day,
    level: fc.constantFrom(10, 20, '10'),
    page: fc.integer({ min: -1000, max: 1000 }),
    due: day.map((date) => date.slice(0, 10)),
    custom: fc.dictionary(key, text, { minKeys: 1, noNullPrototype: true }),
    not: fc.record({
      state: fc.constantFrom('opened', 'closed'),
      iids: fc.array(fc.integer({ min: 0, max: 1e6 }), { minLength: 1 }),
    }),
    // Every action has the first key, so a form shows where the next action starts.
    actions: fc.array(
      fc.record(
        { action: fc.constantFrom('create', 'delete'), content: text, force: fc.boolean() },
        { requiredKeys: ['action', 'content'] },
      ),
      { minLength: 1 },
    ),
  })

  test('equal values in JSON, form, multipart and query give equal parameters', async () => {
    const read = compileParams(everything)
    await fc.assert(
      fc.asyncProperty(tree, async (values) => {
        const expected = read(await encodings['json']!(values as RawParams), 'POST')
        for (const encoding of ['form', 'multipart', 'query']) {
          expect({ encoding, ...read(await encodings[encoding]!(values as RawParams), 'POST') }).toEqual({
            encoding,
            ...expected,
          })
        }
      }),
      { numRuns: 150 },
    )
  })

  test('conversion of any value fails only with a ParameterError', () => {
    const readers = [
      everything,
      Params(Object.fromEntries(Object.entries(types).map(([name, type]) => [name, Optional(type)]))),
    ].map((schema) => compileParams(schema))
    const names = [
      ...Object.keys(everything.properties),
      ...Object.keys(types),
      '__proto__',
      'constructor',
      'action',
      'content',
      '0',
    ]
    const file = new UploadedFile({ fieldName: 'f', filename: 'f', contentType: 'x/y', path: '/nowhere', sizeBytes: 0 })
    const { value } = fc.letrec<{ value: RawValue; list: RawValue[]; hash: RawParams }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(null, '', 'true', '10', 'None', 'asc', '2020-01-01', '\0', '\ud800', file),
        fc.string({ unit: 'binary' }),
        fc.double(),
        fc.integer(),
        fc.boolean(),
        tie('list'),
        tie('hash'),
      ) as fc.Arbitrary<RawValue>,
      list: fc.array(tie('value')),
      hash: fc.dictionary(fc.constantFrom(...names), tie('value')) as fc.Arbitrary<RawParams>,
    }))
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...names), value),
        fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
        (raw, method) => {
          for (const read of readers) {
            try {
              read(raw as RawParams, method)
            } catch (error) {
              expect(error).toBeInstanceOf(ParameterError)
            }
          }
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('parsing of any query string fails only with a ParameterError', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '[',
      ']',
      '[]',
      '[a]',
      '=',
      '&',
      '%',
      '%5B',
      '%ff',
      '+',
      '0',
      '__proto__',
      '\u00c3',
      ';',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        try {
          parseUrlencoded(pieces.join(''))
        } catch (error) {
          expect(error).toBeInstanceOf(ParameterError)
        }
      }),
      { numRuns: 3000 },
    )
  })

  test('path parameters override the body, and the body overrides the query', () => {
    const merged = mergeRaw(
      { id: '1' },
      JSON.parse('{"id":"2","a":{"x":"2"},"__proto__":{"b":"2"}}'),
      parseUrlencoded('id=3&a[y]=3&b=3'),
    )
    expect({ ...merged }).toEqual({ id: '1', a: { x: '2' }, b: '3' })
  })
})
