import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'

const none = { emoji: null, message: null, message_html: null }

describe('statuses of users', () => {
  test('a user status is empty at first and can be set', async ({ world }) => {
    const ann = await world.user()
    expect(await ann.get('/user/status')).toMatchObject({ status: 200, json: none })
    const changed = await ann.put('/user/status', { emoji: 'coffee', message: 'I crave :coffee: & :nosuch:' })
    expect(changed).toMatchObject({
      status: 200,
      json: { emoji: 'coffee', message: 'I crave :coffee: & :nosuch:', message_html: 'I crave ☕ &amp; :nosuch:' },
    })
    expect((await ann.get('/user/status')).json).toEqual(changed.json)
    expect((await ann.put('/user/status', { emoji: 'tada' })).json).toEqual({
      emoji: 'tada',
      message: '',
      message_html: '',
    })
  })

  test('a thumb of a status has the name that it has as an award, also if the status names it +1 or -1', async ({
    world,
  }) => {
    const ann = await world.user()
    for (const [emoji, name] of [
      ['+1', 'thumbsup'],
      ['-1', 'thumbsdown'],
      ['thumbsup', 'thumbsup'],
    ]) {
      expect((await ann.put('/user/status', { emoji })).json, emoji).toMatchObject({ emoji: name })
      expect((await ann.get('/user/status')).json, emoji).toMatchObject({ emoji: name })
    }
  })

  test('D3-STATUS-EMOJI-DEFAULT: a status with only a message has a speech balloon', async ({ world }) => {
    const ann = await world.user()
    for (const more of [{}, { emoji: '' }, { emoji: null }])
      expect((await ann.put('/user/status', { message: 'Away', ...more })).json).toEqual({
        emoji: 'speech_balloon',
        message: 'Away',
        message_html: 'Away',
      })
  })

  test.for([{}, { emoji: '', message: '' }, { emoji: null, message: ' ' }])(
    'D3-STATUS-CLEAR: %j clears the status',
    async (empty, { world }) => {
      const ann = await world.user()
      await ann.put('/user/status', { emoji: 'tada', message: 'Hello' })
      expect(await ann.put('/user/status', empty)).toMatchObject({ status: 200, json: none })
      expect((await ann.get('/user/status')).json).toEqual(none)
    },
  )

  test('D3-STATUS-BY-NAME: anyone reads the status of a user, by id or username', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { json } = await ann.put('/user/status', { message: 'Hello' })
    for (const who of [ann, bob, world.root, world.anonymous])
      for (const name of [ann.id, ann.username, ann.username.toUpperCase()])
        expect(await who.get(`/users/${name}/status`)).toMatchObject({ status: 200, json })
    expect((await world.anonymous.get(`/users/${bob.id}/status`)).json).toEqual(none)
    expect(await world.anonymous.get('/users/no-such-user/status')).toMatchObject({
      status: 404,
      json: { message: '404 User Not Found' },
    })
    expect((await world.anonymous.get('/user/status')).status).toBe(401)
    expect((await world.anonymous.put('/user/status', { message: 'x' })).status).toBe(401)
  })

  test.for([
    [{ message: 'm'.repeat(101) }, { message: ['is too long (maximum is 100 characters)'] }],
    [{ emoji: 'nosuch', message: 'x' }, { emoji: ['is not included in the list'] }],
    [{ emoji: ':coffee:' }, { emoji: ['is not included in the list'] }],
    [{ emoji: '__proto__' }, { emoji: ['is not included in the list'] }],
    [{ emoji: 'constructor' }, { emoji: ['is not included in the list'] }],
  ] as const)('400 for the status %j', async ([status, message], { world }) => {
    expect(await (await world.user()).put('/user/status', status)).toMatchObject({ status: 400, json: { message } })
  })

  test.for(['thumbsup', 'speech_balloon', 'palm_tree', 'face_with_thermometer', 'shrug', '100', 'us'])(
    'the status emoji %s is valid',
    async (emoji, { world }) => {
      expect((await (await world.user()).put('/user/status', { emoji })).json.emoji).toBe(emoji)
    },
  )

  test('the status message is escaped text, not markup', async ({ world }) => {
    const ann = await world.user()
    const { json } = await ann.put('/user/status', { message: `<img src=x onerror="alert('1')">:tada:&lt;` })
    expect(json.message_html).toBe('&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;🎉&amp;lt;')
    const hundred = '🎉'.repeat(100)
    expect((await ann.put('/user/status', { message: hundred })).json.message).toBe(hundred)
  })
})
