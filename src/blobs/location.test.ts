import { expect, test } from 'vitest'
import { canFollow, isSameStore, s3Address, storeName } from './location.ts'

test('the parameters of an S3 URL have defaults for AWS and for other servers', () => {
  expect(s3Address('s3://bucket')).toEqual({
    ...{ bucket: 'bucket', prefix: '', endpoint: undefined, region: undefined, pathStyle: false, profile: undefined },
  })
  expect(s3Address('s3://my.bucket//a/b/?endpoint=http://10.0.0.1:9000')).toEqual({
    ...{ bucket: 'my.bucket', prefix: 'a/b/', endpoint: 'http://10.0.0.1:9000', region: undefined, pathStyle: true },
    profile: undefined,
  })
})

test('a store has the same name at every endpoint and with every spelling of its folder', () => {
  expect(storeName('s3://bucket/a/?endpoint=http://one&region=x')).toBe('s3://bucket/a')
  expect(isSameStore('s3://bucket/a?endpoint=http://one', 's3://bucket/a/?endpoint=https://two')).toBe(true)
  expect(isSameStore('s3://bucket/a', 's3://bucket/b')).toBe(false)
  expect(isSameStore('file:///srv/blobs/', 'file:///srv/blobs')).toBe(true)
  expect(isSameStore('file:///srv/blobs', 's3://srv/blobs')).toBe(false)
})

test.for([
  ['https://git.example.com', 'https://s3.example.com/x', true],
  ['https://git.example.com', 'http://s3.example.com/x', false],
  ['http://git.example.com', 'http://10.0.0.1:9000/x', true],
  ['http://git.example.com', 'http://127.0.0.1:9000/x', false],
  ['http://git.example.com', 'http://[::1]:9000/x', false],
  ['http://localhost:8080', 'http://127.0.0.1:9000/x', true],
] as const)('clients of %s are sent to %s: %s', ([site, link, expected]) => {
  expect(canFollow(new URL(site), new URL(link))).toBe(expected)
})
