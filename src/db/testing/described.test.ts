import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { readDescription, shareDescriptions, statementsFolder, writeDescription } from './described.ts'

const column = { name: 'id', type: 23, nulls: 'never' } as const

describe('descriptions of statements', () => {
  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stithy-statements-'))
    shareDescriptions(folder)
    onTestFinished(async () => {
      shareDescriptions(statementsFolder())
      await rm(folder, { recursive: true })
    })
  })

  test('a description is read as it was written, by the whole text of its statement', () => {
    const description = { columns: [column], changing: ['now()'] }
    writeDescription('select id from users', description)
    expect(readDescription('select id from users')).toEqual(description)
    expect(readDescription('select id from user')).toBeUndefined()
  })

  test('a description with a type of one database is not shared', () => {
    writeDescription('select kind from users', { columns: [{ ...column, type: 16_400 }], changing: [] })
    expect(readDescription('select kind from users')).toBeUndefined()
  })
})
