import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'

/** The smallest PNG: one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const send = (who: Client, path: string, file: Buffer | string = png) => {
  const body = new FormData()
  body.set('avatar', new Blob([file as string]), 'face.png')
  return who.send('PUT', path, { body })
}

describe('PUT /user/avatar', () => {
  test("PUT /user/avatar replaces and removes the caller's avatar", async ({ world }) => {
    const ann = await world.user()
    const avatar_url = `${world.origin}/uploads/-/system/user/avatar/${ann.id}/face.png`
    expect(await send(ann, '/user/avatar')).toMatchObject({ status: 200, json: { avatar_url } })
    expect((await ann.get('/user')).json.avatar_url).toBe(avatar_url)
    const { status, json } = await ann.put('/user/avatar', { avatar: null })
    expect([status, json.avatar_url]).not.toContain(avatar_url)
    expect((await ann.get('/user')).json.avatar_url).toBe(json.avatar_url)
  })

  test('PUT /user/avatar needs an image and a signed-in user with the scope api', async ({ world }) => {
    const ann = await world.user()
    expect(await ann.put('/user/avatar')).toMatchObject({ status: 400, json: { error: 'avatar is missing' } })
    expect(await ann.put('/user/avatar', { avatar: 'x' })).toMatchObject({
      status: 400,
      json: { error: 'avatar is invalid' },
    })
    expect(await send(ann, '/user/avatar', '<svg/>')).toMatchObject({
      status: 400,
      json: { message: { avatar: [expect.stringContaining('format is not supported')] } },
    })
    expect((await send(world.anonymous, '/user/avatar')).status).toBe(401)
    expect((await send(await world.as(ann, ['read_user']), '/user/avatar')).status).toBe(403)
  })
})

describe('GET /groups/:id/avatar and /projects/:id/avatar', () => {
  test('group and project avatars are returned to callers who can see the group or project', async ({ world }) => {
    const group = await world.group()
    const project = await world.project({ group })
    const [guest, stranger] = [await world.user(), await world.user()]
    await world.root.post(`/groups/${group.id}/members`, { user_id: guest.id, access_level: 10 })
    for (const path of [`/groups/${group.id}`, `/projects/${project.id}`]) {
      const at = `${path}/avatar`
      expect(await guest.get(at)).toMatchObject({ status: 404, json: { message: '404 Avatar Not Found' } })
      expect((await send(world.root, path)).status).toBe(200)
      const headers = {
        'content-type': 'image/png',
        'content-length': String(png.length),
        'content-disposition': 'inline; filename="face.png"',
        'content-security-policy': "sandbox; default-src 'none'",
      }
      expect(await guest.get(at)).toMatchObject({ status: 200, headers })
      expect(await guest.head(at)).toMatchObject({ status: 200, headers, text: '' })
      expect((await stranger.get(at)).status).toBe(404)
      expect((await world.anonymous.get(at)).status).toBe(404)
    }
  })
})
