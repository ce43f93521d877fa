import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { type Client, test } from '../../../../test/world.ts'

const send = async (who: Client, projectId: number, name: string, content: string) => {
  const body = new FormData()
  body.set('file', new Blob([content]), name)
  const { url } = (await who.send('POST', `/projects/${projectId}/uploads`, { body })).json
  return `/projects/${projectId}${url}`
}

describe('uploads of a project', () => {
  test('maintainers list uploads and read them by id, project members read them by URL', async ({ world }) => {
    const [ann, guest, stranger] = [await world.user(), await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [ann, 'maintainer'],
        [guest, 'guest'],
      ],
    })
    const at = await send(guest, project.id, 'a.txt', 'one')
    await send(ann, project.id, 'b.png', 'three')
    const list = await ann.get(`/projects/${project.id}/uploads`)
    expect(list.json).toEqual([
      expect.objectContaining({ filename: 'b.png', size: 5 }),
      {
        id: expect.any(Number),
        filename: 'a.txt',
        size: 3,
        created_at: expect.any(String),
        uploaded_by: { id: guest.id, username: guest.username, name: expect.any(String) },
      },
    ])
    const byId = `/projects/${project.id}/uploads/${list.json[1].id}`
    const headers = {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="a.txt"; filename*=UTF-8''a.txt`,
    }
    expect(await ann.get(byId)).toMatchObject({ status: 200, text: 'one', headers })
    expect(await guest.get(at)).toMatchObject({ status: 200, text: 'one', headers })
    expect((await guest.get(byId)).status).toBe(403)
    expect((await stranger.get(at)).status).toBe(404)
    const other = await world.project({ visibility: 'public' })
    expect(await ann.get(at.replace(String(project.id), String(other.id)))).toMatchObject({
      status: 404,
      json: { message: '404 File Not Found' },
    })
  })

  test('maintainers delete uploads by id or URL, which are then a 404', async ({ world }) => {
    const [ann, developer] = [await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [ann, 'maintainer'],
        [developer, 'developer'],
      ],
    })
    const first = await send(developer, project.id, 'a.txt', 'x')
    const second = await send(developer, project.id, 'a.txt', 'y')
    const [{ id }] = (await ann.get(`/projects/${project.id}/uploads`)).json
    const byId = `/projects/${project.id}/uploads/${id}`
    for (const path of [first, byId]) expect((await developer.delete(path)).status).toBe(403)
    await world.archive(project)
    for (const path of [first, byId]) expect((await ann.delete(path)).status).toBe(403)
    await world.root.post(`/projects/${project.id}/unarchive`)
    for (const path of [first, byId]) {
      expect((await ann.delete(path)).status).toBe(204)
      expect((await ann.delete(path)).status).toBe(404)
    }
    expect((await ann.get(second)).status).toBe(404)
    expect((await ann.get(`/${second.replace(`/projects/${project.id}`, `/${project.full_path}`)}`)).status).toBe(404)
    expect((await ann.get(`/projects/${project.id}/uploads`)).json).toEqual([])
    const gone = await eventsOf(world, { project: project.id, kind: 'upload_deleted' }, 'payload')
    expect(gone).toHaveLength(2)
  })
})
