import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../processes/testing/launch.ts'
import { writePrivateFile } from './private-file.ts'

test('a private file is readable by its owner only, and written completely', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'secret')
  writePrivateFile(file, 'one\n')
  writePrivateFile(file, 'two\n')
  expect(readFileSync(file, 'utf8')).toBe('two\n')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['secret'])
})
