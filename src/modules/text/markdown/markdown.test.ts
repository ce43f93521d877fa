import { expect } from 'vitest'
import { test } from '../../../../test/world.ts'

test('POST /markdown renders Markdown for anyone', async ({ world }) => {
  const made = await world.anonymous.post('/markdown', { text: '# Hello *world*' })
  expect(made).toMatchObject({ status: 201 })
  expect(made.json.html).toMatch(/^<h1 id="user-content-hello-world">.*Hello <em>world<\/em><\/h1>$/)
})
