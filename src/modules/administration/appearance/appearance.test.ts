import { FormData } from 'undici'
import { describe, expect, onTestFinished } from 'vitest'
import { headerLogo } from '../../../../test/tables/instance.ts'
import { test } from '../../../../test/world.ts'
import { checkAvatars } from '../../namespaces/avatars/check.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const path = '/application/appearance'

describe('appearance', () => {
  test('403 for the appearance unless the caller is an administrator', async ({ world }) => {
    const ann = await world.user()
    for (const ask of [() => ann.get(path), () => ann.put(path, { title: 'Ann’s' })])
      expect(await ask()).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    expect((await world.anonymous.get(path)).status).toBe(401)
  })

  test('PUT of the appearance changes only the given texts', async ({ world }) => {
    // Other tests in this world may have changed it.
    await world.plainAppearance()
    const before = (await world.root.get(path)).json
    expect(before).toEqual({
      title: '',
      description: '',
      logo: null,
      header_logo: null,
      favicon: null,
      new_project_guidelines: '',
      header_message: '',
      footer_message: '',
      message_background_color: '#e75e40',
      message_font_color: '#ffffff',
      email_header_and_footer_enabled: false,
    })
    onTestFinished(async () => {
      await world.root.put(path, { title: '', message_font_color: '#ffffff' })
    })
    const changed = { ...before, title: 'Forge of Ann', message_font_color: '#FFF' }
    expect((await world.root.put(path, { title: 'Forge of Ann', message_font_color: '#FFF' })).json).toEqual(changed)
    expect(await world.root.put(path, { title: 'No', message_background_color: 'red' })).toMatchObject({
      status: 400,
      json: { message: { message_background_color: ['must be a valid color code'] } },
    })
    expect((await world.root.get(path)).json).toEqual(changed)
  })

  test('null clears a text of the appearance', async ({ world }) => {
    const texts = ['title', 'description', 'new_project_guidelines', 'header_message', 'footer_message']
    const all = (value: string | null) => Object.fromEntries(texts.map((name) => [name, value]))
    expect((await world.root.put('/application/appearance', all('x'))).json).toMatchObject(all('x'))
    expect((await world.root.put('/application/appearance', all(null))).json).toMatchObject(all(''))
  })

  test('logos of the appearance are public until they are removed', async ({ world }) => {
    const send = (name: string, bytes: Buffer) => {
      const body = new FormData()
      body.set(name, new Blob([bytes]), 'our logo.png')
      return world.root.send('PUT', path, { body })
    }
    const { json } = await send('header_logo', png)
    expect(json.header_logo).toBe('/uploads/-/system/appearance/header_logo/1/our_logo.png')
    const seen = await world.anonymous.bytes(world.origin + json.header_logo)
    expect(seen).toMatchObject({ status: 200, headers: { 'content-type': 'image/png' } })
    expect(seen.body.equals(png)).toBe(true)
    expect(seen.headers['cache-control']).toBe('max-age=0, public, must-revalidate')
    const asked = { 'if-none-match': String(seen.headers['etag']) }
    expect((await world.anonymous.bytes(world.origin + json.header_logo, asked)).status).toBe(304)
    const [row] = await headerLogo(world)
    const ctx = await world.app.open(null)
    expect(await checkAvatars(ctx.db, async () => 'is missing')).toContain(
      `appearance header logo: its picture ${row.digest} is missing`,
    )

    expect(await send('favicon', Buffer.from('<script>'))).toMatchObject({
      status: 400,
      json: { message: { favicon: [expect.stringContaining('file format is not supported')] } },
    })
    expect((await world.root.put(path, { header_logo: '' })).json.header_logo).toBe(null)
    expect((await world.anonymous.bytes(world.origin + json.header_logo)).status).toBe(404)
  })
})
