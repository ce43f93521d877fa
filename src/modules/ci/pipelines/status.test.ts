import { expect, test } from 'vitest'
import { type Count, pipelineStatus, type Status } from './status.ts'

const counts = (words: string): Count[] =>
  words
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => ({ status: word.replace('?', '') as Status, allow_failure: word.endsWith('?'), count: 1 }))

// `failed?` may fail. Source: supplement to the API documents, "Pipeline status".
test.for([
  ['skipped failed?', 'success'],
  ['failed?', 'success'],
  ['skipped skipped', 'skipped'],
  ['success success', 'success'],
  ['success failed? canceled?', 'success'],
  ['created created', 'created'],
  ['preparing', 'preparing'],
  ['success skipped', 'success'],
  ['success skipped canceled', 'canceled'],
  ['canceled', 'canceled'],
  ['created skipped pending', 'pending'],
  ['pending', 'pending'],
  ['success pending', 'running'],
  ['failed running', 'running'],
  ['failed pending manual', 'running'],
  ['success manual scheduled', 'manual'],
  ['failed scheduled preparing', 'scheduled'],
  ['success preparing created', 'preparing'],
  ['success created', 'running'],
  ['success failed', 'failed'],
  ['failed canceled', 'failed'],
  ['failed', 'failed'],
  ['success? failed', 'failed'],
] as const)('%s are a pipeline of status %s', ([words, status]) => {
  expect(pipelineStatus(counts(words))).toBe(status)
})
