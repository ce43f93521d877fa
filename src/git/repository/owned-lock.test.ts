import { existsSync, linkSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeOldLock, removeUnownedLock } from './owned-lock.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stithy-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const made = (name: string) => {
  const path = join(folder, name)
  writeFileSync(path, '')
  return path
}

test('an old lock is removed, and one that another process has taken since it was looked at is not', () => {
  const path = made('HEAD.lock')
  const found = statSync(path)
  renameSync(made('other.lock'), path)
  for (const remove of [removeOldLock, removeUnownedLock]) expect(remove(folder, path, found)).toBe(false)
  expect(existsSync(path)).toBe(true)
  expect(removeOldLock(folder, path, statSync(path))).toBe(true)
  expect(removeOldLock(folder, path, found)).toBe(false)
  expect(readdirSync(folder)).toEqual([])
})

test('a lock that names its process is removed by its age only', () => {
  const path = made('HEAD.lock')
  linkSync(path, join(folder, 'second'))
  const found = statSync(path)
  expect(removeUnownedLock(folder, path, found)).toBe(false)
  expect(removeOldLock(folder, path, found)).toBe(true)
  expect(readdirSync(folder)).toEqual(['second'])
})
