import { expect } from 'vitest'
import { test } from '../../../test/world.ts'

test('the API page orders operations by summary, and can send reads only', async ({ world }) => {
  const { text } = await world.anonymous.get('//-/docs/start.js')
  let given: any
  new Function('SwaggerUIBundle', text)((options: unknown) => {
    given = options
  })
  expect(given.supportedSubmitMethods).toEqual(['get', 'head'])
  const operation = (): object => new Map([['path', '/x']])
  const [list, create] = ['List projects', 'Create a project'].map((summary) =>
    Object.assign(operation(), { getIn: () => summary }),
  )
  expect([list, create].sort(given.operationsSorter)).toEqual([create, list])
})

test('every operation of the API document has a summary and a tag with a description', async ({ world }) => {
  const { paths, tags } = (await world.anonymous.get('//openapi.json')).json
  const described = new Set(tags.filter(({ description }: any) => description).map(({ name }: any) => name))
  const lacking = Object.entries<Record<string, any>>(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { summary, tags: own }]) =>
      summary && own?.every((tag: string) => described.has(tag)) ? [] : [`${method} ${path}`],
    ),
  )
  expect(lacking).toEqual([])
})
