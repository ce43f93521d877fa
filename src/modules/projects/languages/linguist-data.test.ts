import { createRequire } from 'node:module'
import linguist from 'linguist-js'
import { expect, test } from 'vitest'
import { parseDataOnce } from './linguist-data.ts'

test('linguist parses each file of its data once, and answers as before', async () => {
  const yaml = createRequire(createRequire(import.meta.url).resolve('linguist-js'))('js-yaml') as {
    load: (text: string) => unknown
  }
  const parse = yaml.load
  let times = 0
  yaml.load = (text) => {
    times++
    return parse(text)
  }
  const named = () =>
    linguist(['a.h', 'b.py', 'vendor/c.js'], {
      fileContent: ['#include <string>\nnamespace a { class B; }\n', 'print(1)', 'var x'],
      offline: true,
    })
  const before = await named()
  const files = times
  expect(files).toBeGreaterThan(1)
  expect(await named()).toEqual(before)
  expect(times).toBe(2 * files)

  parseDataOnce()
  expect(await named()).toEqual(before)
  expect(times).toBe(3 * files)
  expect(await named()).toEqual(before)
  expect(times).toBe(3 * files)
  expect(before.files.results).toEqual({ 'a.h': 'C++', 'b.py': 'Python' })
})
