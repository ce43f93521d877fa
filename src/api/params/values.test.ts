import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import type { RawParams } from './raw.ts'
import { outcome } from './testing.ts'
import {
  CommaList,
  DateOnly,
  Decimal,
  File,
  FilePath,
  Flag,
  Hash,
  Id,
  IdOrName,
  List,
  ListOr,
  OneOf,
  Optional,
  Params,
  Text,
  Timestamp,
  Whole,
  WholeOr,
} from './types.ts'
import { UploadedFile } from './uploaded-file.ts'

const file = new UploadedFile({
  fieldName: 'x',
  filename: 'a',
  contentType: 'text/plain',
  path: '/tmp/a',
  sizeBytes: 1,
})
const json = JSON.parse

describe('values of each parameter type', () => {
  const yes = ['true', '1', 'on', 't', 'y', 'yes', 'TRUE', 'ON', 'T', 'Y', 'YES', 'True', true, 1]
  const no = ['false', '0', 'off', 'f', 'n', 'no', 'FALSE', 'OFF', 'F', 'N', 'NO', 'False', false, 0]
  const invalid = 'x is invalid'
  const noValue = 'x does not have a valid value'

  test.for([
    ['a boolean', Flag(), yes, true],
    ['a boolean', Flag(), no, false],
    ['a boolean', Flag(), ['None', 'yess', ' 1', '2', 2, [], ['1'], {}, file], invalid],
    ['an integer', Whole(), ['5', '+5', '05', 5], 5],
    ['an integer', Whole(), ['-5', -5], -5],
    ['an integer', Whole(), ['0', '-0', 0, -0], 0],
    ['an integer', Whole(), ['5.0', '0x5', '5 ', '1e3', 'five', 5.5, true, [5], { 0: 5 }, '٣', file], invalid],
    ['an integer beyond the database', Whole(), ['2147483648', -2147483649, '9'.repeat(400), 1e300, 2 ** 53], invalid],
    ['an integer out of its range', Whole({ minimum: 1, maximum: 10 }), ['0', '11', -1, 2 ** 40], noValue],
    ['a wide integer', Whole({ maximum: Number.MAX_SAFE_INTEGER }), ['9007199254740991'], 9007199254740991],
    ['a wide integer', Whole({ maximum: Number.MAX_SAFE_INTEGER }), ['9007199254740992', '9007199254740993'], invalid],
    ['a number', Decimal(), ['1.5', '+1.5', '15e-1', 1.5], 1.5],
    ['a number', Decimal(), ['1.5.', 'NaN', 'Infinity', '1e999', '.', json('1e999'), true, [1]], invalid],
    ['a number out of its range', Decimal({ minimum: 0 }), ['-0.1'], noValue],
    ['text', Text(), ['a'], 'a'],
    ['text', Text(), [''], ''],
    ['a number for text', Text(), [12], '12'],
    ['a boolean for text', Text(), [true], 'true'],
    [
      'text with NUL, half a surrogate pair, or of another type',
      Text(),
      ['a\0', '\ud800', 'x\udc00', ['a'], { a: 'a' }, file],
      invalid,
    ],
    ['text above its maximum length', Text({ maxLength: 3 }), ['abcd'], noValue],
    ['text that does not match its pattern', Text({ pattern: '^[a-z]+$' }), ['A', 'a b'], noValue],
    ['a file path', FilePath(), ['a/..b/c.txt'], 'a/..b/c.txt'],
    [
      'a file path with ..',
      FilePath(),
      ['..', '../x', 'a/../b', 'a/..', 'a\\..\\b', '.', 'a\nb'],
      'x should be a valid file path',
    ],
    ['a file', File(), [file], file],
    ['not a file, or an imitation of one', File(), ['a', '', 1, [file], { path: '/etc/passwd' }, { ...file }], invalid],
    ['a value of an enumeration', OneOf(['asc', 'desc']), ['asc'], 'asc'],
    [
      'a value outside of an enumeration',
      OneOf(['asc', 'desc']),
      ['', 'ASC', 'asc ', 'constructor', '__proto__', 1],
      noValue,
    ],
    ['an empty value of an enumeration', OneOf(['asc', 'desc']), [['asc'], {}, 'a\0', file], invalid],
    ['a number of an enumeration', OneOf([10, 20]), ['10', 10, '+10'], 10],
    ['a number outside of an enumeration', OneOf([10, 20]), ['15', 15, '99999999999'], noValue],
    ['not a number of an enumeration', OneOf([10, 20]), ['ten', [10], true, {}], invalid],
    ['an enumeration of texts and numbers', OneOf([0, 'none']), ['0', 0], 0],
    ['a TypeBox union of literals', Type.Union([Type.Literal('a'), Type.Literal('b')]), ['b'], 'b'],
    ['a TypeBox enum', Type.Enum(['a', 'b']), ['c'], noValue],
    ['an id or a name', IdOrName(), ['7', 7], 7],
    ['an id or a name', IdOrName(), ['ann'], 'ann'],
    ['an id or a name', IdOrName(), [['ann'], {}], invalid],
    ['an integer or a keyword', WholeOr(['None', 'Any']), ['3', 3], 3],
    ['an integer or a keyword', WholeOr(['None', 'Any']), ['none', 'None', 'NONE'], 'None'],
    [
      'an integer or a keyword',
      WholeOr(['None', 'Any']),
      ['Some', ['None'], [1], {}, true, 'None\0'],
      "x should be an integer, 'None' or 'Any'",
    ],
    ['an integer or one keyword', WholeOr(['None']), ['Any', 'x'], "x should be an integer or 'None'"],
    ['a list or a keyword', ListOr(Id(), ['None', 'Any']), ['any'], 'Any'],
    ['a list or a keyword', ListOr(Id(), ['None', 'Any']), ['3', ['x'], {}], "x should be an array, 'None' or 'Any'"],
  ] as const)('values parsed as %s', ([, type, raws, expected]) => {
    const schema = Params({ x: type as never })
    for (const raw of raws) {
      const result = outcome(schema, { x: raw as never })
      expect({ raw, result }).toEqual({ raw, result: typeof result === 'string' ? expected : { x: expected } })
    }
  })
})

describe('D1-TIMESTAMPS', () => {
  test.for([
    ['2020-04-22T10:00:00Z', '2020-04-22T10:00:00.000Z'],
    ['2020-04-22T10:00:00.5Z', '2020-04-22T10:00:00.500Z'],
    ['2020-04-22T10:00:00,123456Z', '2020-04-22T10:00:00.123Z'],
    ['2020-04-22T10:00:00+02:00', '2020-04-22T08:00:00.000Z'],
    ['2020-04-22T10:00:00-0130', '2020-04-22T11:30:00.000Z'],
    ['2020-04-22T10:00:00 02:00', '2020-04-22T08:00:00.000Z'],
    ['2020-04-22 10:00:00 +0200', '2020-04-22T08:00:00.000Z'],
    ['2020-04-22 10:00', '2020-04-22T10:00:00.000Z'],
    ['2020-04-22', '2020-04-22T00:00:00.000Z'],
    ['20200422T100000Z', '2020-04-22T10:00:00.000Z'],
    ['2020-04-22T24:00:00Z', '2020-04-23T00:00:00.000Z'],
    ['0099-01-01', '0099-01-01T00:00:00.000Z'],
    ['0001-01-01T00:30:00+01:00', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:30:00-01:00', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T24:00:00Z', '9999-12-31T23:59:59.999Z'],
  ] as const)('the timestamp %s is parsed as %s', ([raw, moment]) => {
    expect(outcome(Params({ since: Timestamp() }), { since: raw })).toEqual({ since: new Date(moment) })
  })

  test.for([
    'foo',
    '2020',
    '2020-02-30',
    '2019-02-29',
    '2020-13-01',
    '2020-00-01',
    '0000-01-01',
    '2020-01-01T25:00',
    '2020-01-01T24:00:01',
    '2020-01-01T10:61',
    '2020-01-01T10:00:00+25:00',
    '2020-01-01T',
    ' 2020-01-01',
    '2020-01-01\n',
    '10000-01-01',
  ])('the timestamp %s is invalid', (raw) => {
    expect(outcome(Params({ since: Timestamp() }), { since: raw })).toBe('since is invalid')
  })

  test.for([
    ['2020-02-29', '2020-02-29'],
    ['2020-02-03T23:00:00-05:00', '2020-02-03'],
    ['2020-02-03 12:00', '2020-02-03'],
    ['2020-02-30', 'due is invalid'],
    ['2020-02-30T00:00:00Z', 'due is invalid'],
    ['2020-2-3', 'due is invalid'],
    ['2020-02-03 nonsense', 'due is invalid'],
    ['20200203', 'due is invalid'],
    ['20200203T000000Z', 'due is invalid'],
  ] as const)('the date %s is parsed as %s', ([raw, expected]) => {
    const result = outcome(Params({ due: DateOnly() }), { due: raw })
    expect(result).toEqual(expected.includes(' ') ? expected : { due: expected })
  })
})

describe('D1-ARRAY-HASH-NAMES', () => {
  const ids = Params({ ids: List(Id()) })
  const labels = Params({ labels: CommaList(Text()) })
  const actions = Params({
    actions: List(Params({ action: OneOf(['create', 'delete']), file_path: Text(), force: Flag({ default: false }) })),
  })
  const names = Params({ name: List(Text(), { single: true, atMostOne: true }) })
  const not = Params({ not: Optional(Params({ labels: Optional(CommaList(Text())), iid: Optional(Whole()) })) })
  const attributes = Params({ custom: Hash(Text()) })
  const anything = Params({ override: Hash() })

  test.for([
    ['a list', ids, { ids: ['1', 2] }, { ids: [1, 2] }],
    ['a list with indexes', ids, { ids: { 1: '8', 0: '7' } }, { ids: [7, 8] }],
    ['a list with gaps', ids, { ids: { 0: '7', 2: '8' } }, 'ids is invalid'],
    ['a hash for a list', ids, { ids: { a: '7' } }, 'ids is invalid'],
    ['a scalar for a list', ids, { ids: '1' }, 'ids is invalid'],
    ['commas for a list', ids, { ids: '1,2' }, 'ids is invalid'],
    ['bad elements', ids, { ids: ['1', 'x', 'y'] }, 'ids is invalid'],
    ['hashes for scalars', ids, { ids: [{ a: '1' }] }, 'ids is invalid'],
    ['a comma list', labels, { labels: ' a, b,,c ' }, { labels: ['a', 'b', 'c'] }],
    ['a list of comma lists', labels, { labels: ['a,b', ' c'] }, { labels: ['a', 'b', 'c'] }],
    ['a comma list with indexes', labels, { labels: { 1: 'c', 0: 'a,b' } }, { labels: ['a', 'b', 'c'] }],
    ['an empty comma list', labels, { labels: [''] }, { labels: [] }],
    ['more commas than any list has', labels, { labels: ','.repeat(1_000_000) }, 'labels is invalid'],
    ['a list of comma lists with too many commas', labels, { labels: ['a', ','.repeat(10_000)] }, 'labels is invalid'],
    ['a number for a comma list', labels, { labels: 5 }, { labels: ['5'] }],
    ['a hash for a comma list', labels, { labels: { a: 'b' } }, 'labels is invalid'],
    ['a single value for a list', names, { name: 'ann' }, { name: ['ann'] }],
    ['two values where one is allowed', names, { name: ['a', 'b'] }, 'name allows one value, but found 2: a, b'],
    [
      'hashes',
      actions,
      { actions: [{ action: 'create', file_path: 'x' }] },
      { actions: [{ action: 'create', file_path: 'x', force: false }] },
    ],
    [
      'hashes with mistakes',
      actions,
      { actions: [{ action: 'foo' }, { action: 'create', file_path: 'x', force: 'maybe' }, { file_path: 'y' }] },
      'actions[0][action] does not have a valid value, actions[0][file_path] is missing, actions[1][force] is invalid, actions[2][action] is missing',
    ],
    ['scalars for hashes', actions, { actions: ['create'] }, 'actions is invalid'],
    ['lists for hashes', actions, { actions: [['create']] }, 'actions is invalid'],
    ['a hash', not, { not: { labels: 'a,b', iid: '3', other: 'x' } }, { not: { labels: ['a', 'b'], iid: 3 } }],
    ['a hash with a mistake', not, { not: { iid: 'x' } }, 'not[iid] is invalid'],
    ['a scalar for a hash', not, { not: 'x' }, 'not is invalid'],
    ['a list for a hash', not, { not: ['x'] }, 'not is invalid'],
    ['a free hash', attributes, { custom: { a: 'b', c: 1 } }, { custom: { a: 'b', c: '1' } }],
    ['a free hash of the wrong values', attributes, { custom: { a: ['b'] } }, 'custom is invalid'],
    ['a free hash with a poisoned key', attributes, { custom: { 'a\0': 'b' } }, 'custom is invalid'],
    ['a prototype in a free hash', attributes, json('{"custom":{"__proto__":"x","a":"b"}}'), { custom: { a: 'b' } }],
    ['anything in a free hash', anything, { override: { a: [1, { b: null }] } }, { override: { a: [1, { b: null }] } }],
    [
      'a prototype deep in a free hash',
      anything,
      json('{"override":{"a":{"__proto__":{"admin":true}}}}'),
      { override: { a: {} } },
    ],
    ['a file in a free hash', anything, { override: { a: file } }, 'override is invalid'],
    ['NUL deep in a free hash', anything, { override: { a: [['\0']] } }, 'override is invalid'],
    ['an endless free hash', anything, { override: { a: Array(200_000).fill(1) } }, 'override is invalid'],
    ['an endless list', ids, { ids: Array(200_000).fill(1) }, 'ids does not have a valid value'],
    ['a free hash of words', Params({ h: Hash(OneOf(['a'])) }), { h: { x: 'b' } }, 'h does not have a valid value'],
    [
      'a free hash nested too deeply',
      anything,
      { override: json(`{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}`) },
      'override is invalid',
    ],
  ] as const)('list or hash parameter: %s', ([, schema, raw, expected]) => {
    const result = outcome(schema, raw as RawParams)
    expect(result).toEqual(expected)
  })

  test('an error message lists at most 100 mistakes', () => {
    const message = outcome(actions, { actions: Array.from({ length: 100_000 }, () => ({})) })
    expect(String(message).split(', ')).toHaveLength(100)
  })
})
