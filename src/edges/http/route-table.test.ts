import { expect, test } from 'vitest'
import { RouteTable } from './route-table.ts'

const table = new RouteTable<string>()
for (const route of [
  'GET /a/:id',
  'POST /a/import',
  'GET /a/:id/list',
  'GET /a/import/:name/list',
  'GET /a/:id/archive',
  'GET /a/:id/archive.:format',
  'GET /a/:id/:kind',
]) {
  const [method, path] = route.split(' ') as [string, string]
  table.add(method, path, route)
}

test.for([
  ['GET', '/a/1', 'GET /a/:id', { id: '1' }],
  ['GET', '/a/1/', 'GET /a/:id', { id: '1' }],
  // The literal segment has no GET.
  ['GET', '/a/import', 'GET /a/:id', { id: 'import' }],
  ['POST', '/a/import', 'POST /a/import', {}],
  // The literal segment leads to nothing of this length.
  ['GET', '/a/import/list', 'GET /a/:id/list', { id: 'import' }],
  ['GET', '/a/import/x/list', 'GET /a/import/:name/list', { name: 'x' }],
  ['GET', '/a/1/archive', 'GET /a/:id/archive', { id: '1' }],
  ['GET', '/a/1/archive.tar.gz', 'GET /a/:id/archive.:format', { id: '1', format: 'tar.gz' }],
  ['GET', '/a/1/archive.', 'GET /a/:id/:kind', { id: '1', kind: 'archive.' }],
  ['GET', '/%61/b%2Fc/l%69st', 'GET /a/:id/list', { id: 'b/c' }],
] as const)('%s %s is served by %s', ([method, path, value, params]) => {
  expect(table.find(method, path)).toEqual({ value, params })
})

test.for([
  ['GET', '/'],
  ['GET', '/a'],
  ['GET', '/a//'],
  ['GET', '/A/1'],
  ['GET', '/a//list'],
  ['GET', '/a/1/list/more'],
  ['POST', '/a/1'],
  ['GET', '/a/%zz'],
  ['GET', '/a/%2F%FF'],
] as const)('%s %s is served by nothing', ([method, path]) => {
  expect(table.find(method, path)).toBeUndefined()
})

test('a path has the methods of all patterns that it fits', () => {
  expect(table.methods('/a/import').sort()).toEqual(['GET', 'POST'])
  expect(table.methods('/a/1')).toEqual(['GET'])
  expect(table.methods('/b')).toEqual([])
})
