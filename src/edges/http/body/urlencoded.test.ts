import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../../test/growth.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { maximumFields } from './limits.ts'
import { parseUrlencoded } from './urlencoded.ts'

describe('D1-ARRAY-HASH-NAMES in query strings and forms', () => {
  test.for([
    ['', {}],
    ['&&', {}],
    ['a=1', { a: '1' }],
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=1&a=2', { a: '2' }],
    ['a=', { a: '' }],
    ['a', { a: null }],
    ['=1', {}],
    ['a=b=c', { a: 'b=c' }],
    ['a=b+c&d+e=f', { a: 'b c', 'd e': 'f' }],
    ['a=b%2Bc%26%3D', { a: 'b+c&=' }],
    ['a=%C3%BC', { a: 'ü' }],
    ['a=\u00c3\u00bc', { a: 'ü' }],
    ['ids[]=1&ids[]=2', { ids: ['1', '2'] }],
    ['ids%5B%5D=1&ids%5b%5d=2', { ids: ['1', '2'] }],
    ['ids[]', { ids: [null] }],
    ['a[b]=c', { a: { b: 'c' } }],
    ['a[b]=c&a[d]=e&a[b]=f', { a: { b: 'f', d: 'e' } }],
    ['a[b][]=c&a[b][]=d', { a: { b: ['c', 'd'] } }],
    ['a[0][b]=c&a[1][b]=d', { a: { 0: { b: 'c' }, 1: { b: 'd' } } }],
    [
      'actions[][action]=create&actions[][file_path]=x&actions[][action]=delete&actions[][file_path]=y',
      {
        actions: [
          { action: 'create', file_path: 'x' },
          { action: 'delete', file_path: 'y' },
        ],
      },
    ],
    ['a[][b][]=1&a[][b][]=2&a[][c]=3&a[][c]=4', { a: [{ b: ['1', '2'], c: '3' }, { c: '4' }] }],
    ['a[][b][c]=1&a[][b][d]=2&a[][b][c]=3', { a: [{ b: { c: '1', d: '2' } }, { b: { c: '3' } }] }],
    ['a[b=1', { 'a[b': '1' }],
    ['a[b]c=1', { 'a[b]c': '1' }],
    ['a]=1', { 'a]': '1' }],
    ['[a]=1', { '[a]': '1' }],
    ['a[b]=1&a=2', { a: '2' }],
    ['a&a[b]=2', { a: { b: '2' } }],
    ['a;b=1', { 'a;b': '1' }],
  ] as const)('the query %j is parsed', ([text, tree]) => {
    expect(structuredClone(parseUrlencoded(text))).toEqual(tree)
  })

  test.for([
    ['a value and a hash of one name', 'a=1&a[b]=2', 'a is invalid'],
    ['a value and a list of one name', 'a=1&a[]=2', 'a is invalid'],
    ['a list and a hash of one name', 'a[]=1&a[b]=2', 'a is invalid'],
    ['a hash and a list of one name', 'x[a][b]=1&x[a][]=2', 'x is invalid'],
    ['lists of lists', 'a[][]=1', 'a is invalid'],
    ['depth', `a${'[b]'.repeat(6)}=1`, 'parameters are nested too deeply'],
    ['extreme depth', `a${'[b]'.repeat(100_000)}=1`, 'parameters are nested too deeply'],
    ['a lone percent sign', 'a=100%', 'parameters are not percent-encoded UTF-8'],
    ['a percent sign in a name', 'a%zz=1', 'parameters are not percent-encoded UTF-8'],
    ['encoded bytes that are not UTF-8', 'a=%ff', 'parameters are not percent-encoded UTF-8'],
    ['an encoded surrogate', 'a=%ed%a0%80', 'parameters are not percent-encoded UTF-8'],
    ['raw bytes that are not UTF-8', 'a=\u00ff', 'parameters are not valid UTF-8'],
    ['too many parameters', 'a[]=1&'.repeat(maximumFields + 1), 'too many parameters: at most 10000 are read'],
  ] as const)('the query parser refuses %s', ([, text, message]) => {
    expect(() => parseUrlencoded(text)).toThrow(new ParameterError(message))
  })

  test('parameter names of prototype members are harmless', () => {
    const tree = parseUrlencoded(
      '__proto__[a]=1&__proto__=2&a[__proto__][b]=3&a[constructor][prototype][c]=4&constructor=5&toString=6',
    )
    expect(Object.keys(tree)).toEqual(['a', 'constructor', 'toString'])
    expect(({} as { a?: unknown; b?: unknown; c?: unknown }).a ?? ({} as { b?: unknown }).b).toBeUndefined()
    expect(Object.getPrototypeOf(tree)).toBeNull()
    expect((Object as unknown as { c?: unknown }).c).toBeUndefined()
  })

  test.for([
    ['lists of hashes', 'a[][b]=1&', '', maximumFields / 4],
    ['open brackets', '[', '=1', 100_000],
    ['percent signs', '%41', '', 100_000],
    ['separators', '&', '', 100_000],
  ] as const)('many %s are parsed in linear time', ([, part, end, size]) => {
    expectLinear((count) => parseUrlencoded(part.repeat(count) + end), size)
  })
})
