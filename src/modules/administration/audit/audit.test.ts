import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { deleteAuditEvents, forgeAuditEvents } from '../../../../test/tables/events.ts'
import { type Client, git, temporaryFolder, test, unique, type World } from '../../../../test/world.ts'
import { emit } from '../../../events/log.ts'
import { newPublicKey } from '../../accounts/ssh-keys/testing.ts'
import { operations, type Place } from './testing.ts'

const newest = async (world: World): Promise<number> =>
  (await world.root.get('/audit_events?per_page=1')).json[0]?.id ?? 0

/** The audit events of a piece of work. */
async function audited(world: World, work: () => Promise<unknown>): Promise<any[]> {
  const before = await newest(world)
  await work()
  const { json } = await world.root.get('/audit_events?per_page=100')
  return json.filter(({ id }: { id: number }) => id > before).reverse()
}

const tokenId = async (who: Client): Promise<number> => (await who.get('/personal_access_tokens/self')).json.id

describe('audit events', () => {
  test('each operation has one audit event with author, address and token', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = (await ann.post('/groups', { name: 'Home', path: unique('home'), visibility: 'public' })).json.id
    const other = (await ann.post('/groups', { name: 'Other', path: unique('other') })).json.id
    const publicKey = (await world.root.post('/deploy_keys', { title: 'shared', key: newPublicKey() })).json
    const place: Place = { ann, bob, root: world.root, group, other, project: 0, made: { publicKey } }
    const tokens = { ann: await tokenId(ann), root: await tokenId(world.root) }
    for (const [event, entity_type, call, { by, keep, details } = {}] of operations) {
      const found = await audited(world, async () => {
        const answer = await call(place)
        expect(answer.status, `${event}: ${answer.text}`).toBeLessThan(300)
        if (keep) place.made[keep] = answer.json
        place.project = place.made['project']?.id ?? 0
      })
      const who = by === 'root' ? world.root : ann
      expect(found, event).toMatchObject([
        {
          event_name: event,
          entity_type,
          author_id: who.id,
          details: {
            ip_address: '127.0.0.1',
            token_id: by === 'root' ? tokens.root : tokens.ann,
            impersonated_by: null,
            entity_path: expect.stringMatching(/^\S+$/),
            ...details,
          },
        },
      ])
      expect(JSON.stringify(found)).not.toMatch(/secret( |%20)value/)
    }
  })

  test('changes of instance settings by administrators have audit events', async ({ world }) => {
    const { root } = world
    const name = unique('feature')
    const seen = await audited(world, async () => {
      await root.put('/application/appearance', { title: 'Forge' })
      await root.put('/application/appearance', { title: '' })
      await root.post(`/features/${name}`, { value: true })
      await root.delete(`/features/${name}`)
      const { id } = (await root.post('/broadcast_messages', { message: 'Soon' })).json
      await root.put(`/broadcast_messages/${id}`, { message: 'Now' })
      await root.delete(`/broadcast_messages/${id}`)
    })
    expect(seen.map(({ event_name, details }) => [event_name, details.target_type, details.target_details])).toEqual([
      ['appearance_updated', 'Gitlab::Audit::InstanceScope', expect.anything()],
      ['appearance_updated', 'Gitlab::Audit::InstanceScope', expect.anything()],
      ['feature_switched', 'Feature', name],
      ['feature_forgotten', 'Feature', name],
      ['broadcast_message_created', 'BroadcastMessage', null],
      ['broadcast_message_updated', 'BroadcastMessage', null],
      ['broadcast_message_deleted', 'BroadcastMessage', null],
    ])
    for (const event of seen)
      expect(event).toMatchObject({ entity_type: 'Gitlab::Audit::InstanceScope', entity_id: 1, author_id: root.id })
  })

  test('refused operations have no audit events', async ({ world }) => {
    const ann = await world.user()
    const found = await audited(world, async () => {
      await ann.post('/user/keys', { title: 'x', key: 'nonsense' })
      await ann.post('/groups', { name: 'x', path: '!' })
      await ann.delete('/user/gpg_keys/999999')
    })
    expect(found).toEqual([])
    const ctx = await contextFor(world, ann)
    const rolledBack = audited(world, () =>
      ctx.transaction(async (tx) => {
        await emit(tx, { kind: 'two_factor_enabled', actorId: ann.id, payload: { user_id: ann.id } })
        throw new Error('no')
      }),
    )
    await expect(rolledBack).rejects.toThrow('no')
    expect((await world.root.get(`/audit_events?entity_type=User&entity_id=${ann.id}`)).json).toMatchObject([
      { event_name: 'access_token_created' },
      { event_name: 'user_created' },
    ])
  })

  test('an audit event with sudo names the administrator', async ({ world }) => {
    const ann = await world.user()
    const root = await world.as({ id: 1, username: 'root' }, ['api', 'sudo'])
    const found = await audited(world, () =>
      root.post(`/user/keys?sudo=${ann.id}`, { title: 'x', key: newPublicKey() }),
    )
    expect(found).toMatchObject([
      { author_id: ann.id, details: { impersonated_by: 1, token_id: await tokenId(root), ip_address: '127.0.0.1' } },
    ])
  })

  test("token reuse and OAuth revocation have audit events of the token's user", async ({ world }) => {
    const ann = await world.user()
    const of = {
      entity_type: 'User',
      entity_id: ann.id,
      details: { ip_address: '127.0.0.1', facts: { user_id: ann.id } },
    }
    const reused = await audited(world, async () => {
      await ann.post('/personal_access_tokens/self/rotate')
      await expect.poll(async () => (await ann.get('/user')).status).toBe(401)
      await ann.post('/personal_access_tokens/self/rotate')
    })
    expect(reused).toMatchObject([
      { event_name: 'access_token_rotated' },
      { event_name: 'access_token_reused', author_id: -1, ...of },
    ])
    const json = { grant_type: 'password', username: ann.username, password: 'correct horse battery' }
    const { access_token } = (await world.anonymous.send('POST', '//oauth/token', { json })).json
    const revoked = await audited(world, async () => {
      for (const token of [access_token, access_token, 'unknown'])
        await world.anonymous.send('POST', '//oauth/revoke', { json: { token } })
    })
    expect(revoked).toMatchObject([{ event_name: 'oauth_token_revoked', author_id: ann.id, ...of }])
  })

  test('failed sign-ins have audit events with the address', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project()
    await using folder = await temporaryFolder()
    const tryAs = (name: string) => {
      const url = new URL(project.url)
      url.username = name
      url.password = 'wrong password'
      return git(folder.path, 'ls-remote', url.toString()).catch(() => {})
    }
    const found = await audited(world, async () => {
      await tryAs(ann.username)
      await tryAs('no-such-user')
    })
    const failed = (login: string, rest: object) => ({
      event_name: 'sign_in_failed',
      author_id: -1,
      details: { ip_address: '127.0.0.1', token_id: null, facts: { login } },
      ...rest,
    })
    expect(found).toMatchObject([
      failed(ann.username, { entity_type: 'User', entity_id: ann.id }),
      failed('no-such-user', { entity_type: 'Gitlab::Audit::InstanceScope', entity_id: 1 }),
    ])
  })

  test('sign-ins with the right password of a blocked user have audit events, ten in ten minutes', async ({
    world,
  }) => {
    const ann = await world.user()
    await world.root.post(`/users/${ann.id}/block`)
    const json = { grant_type: 'password', username: ann.username, password: 'correct horse battery' }
    const signIn = () => world.anonymous.send('POST', '//oauth/token', { json })
    const [found] = await audited(world, signIn)
    expect(found).toMatchObject({
      event_name: 'sign_in_failed',
      author_id: -1,
      entity_type: 'User',
      entity_id: ann.id,
      details: { ip_address: '127.0.0.1', facts: { login: ann.username } },
    })
    for (let attempt = 0; attempt < 12; attempt++) expect((await signIn()).json.error).toBe('invalid_grant')
    const list = (await world.root.get(`/audit_events?entity_type=User&entity_id=${ann.id}`)).json
    const failed = list.filter(({ event_name }: any) => event_name === 'sign_in_failed')
    // The period may end meanwhile.
    expect(failed.length).toBeOneOf([10, 11, 12, 13])
  })

  test('audit events outlive their subjects and cannot be changed', async ({ world }) => {
    const ann = await world.user({ name: 'Ann Smith' })
    const { id } = (await ann.post('/user/keys', { title: 'x', key: newPublicKey() })).json
    await world.root.delete(`/users/${ann.id}?hard_delete=true`)
    const list = (await world.root.get(`/audit_events?entity_type=User&entity_id=${ann.id}`)).json
    expect(list.map(({ event_name }: any) => event_name)).toEqual([
      'user_deleted',
      'ssh_key_added',
      'access_token_created',
      'user_created',
    ])
    expect(list[1].details).toMatchObject({ author_name: 'Ann Smith', target_id: id, entity_path: ann.username })
    for (const change of [forgeAuditEvents, deleteAuditEvents])
      await expect(change(world)).rejects.toThrow('kept as they were written')
  })

  test('owners of a group and maintainers of a project read their audit events', async ({ world }) => {
    const [owner, maintainer, developer] = [await world.user(), await world.user(), await world.user()]
    const group = await world.group({ members: [[owner, 'owner']] })
    const project = await world.project({
      group,
      members: [
        [maintainer, 'maintainer'],
        [developer, 'developer'],
      ],
    })
    const [atGroup, atProject] = [`/groups/${group.id}/audit_events`, `/projects/${project.id}/audit_events`]
    const ofGroup = (await owner.get(atGroup)).json
    expect(ofGroup.map(({ event_name }: any) => event_name)).toEqual(['member_added', 'group_created'])
    const ofProject = await maintainer.get(atProject)
    expect(ofProject.json.map(({ event_name }: any) => event_name)).toEqual([
      'member_added',
      'member_added',
      'project_created',
    ])
    expect(ofProject.headers['x-total']).toBe('3')
    const { id } = ofProject.json[0]
    expect((await maintainer.get(`${atProject}/${id}`)).json).toEqual(ofProject.json[0])
    expect((await world.root.get(`/audit_events/${id}`)).json).toEqual(ofProject.json[0])
    expect(await owner.get(`${atGroup}/${id}`)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    expect((await developer.get(atProject)).status).toBe(403)
    expect((await maintainer.get(atGroup)).status).toBe(403)
    expect((await owner.get('/audit_events')).status).toBe(403)
    expect((await world.anonymous.get('/audit_events')).status).toBe(401)
  })

  test('audit events can be filtered by time and entity', async ({ world }) => {
    const ann = await world.user()
    const list = async (query: string) =>
      (await world.root.get(`/audit_events?entity_type=User&entity_id=${ann.id}&${query}`)).json
    expect(await list('created_after=2000-01-01')).toHaveLength(2)
    expect(await list('created_before=2000-01-01')).toEqual([])
    expect(await list('created_after=2100-01-01T00:00:00Z')).toEqual([])
    // Both include an event of the displayed time.
    for (const { id, created_at } of await list(''))
      for (const filter of ['created_after', 'created_before'])
        expect((await list(`${filter}=${created_at}`)).map((event: { id: number }) => event.id)).toContain(id)
    expect((await world.root.get('/audit_events?entity_type=Nothing')).json).toEqual({
      error: 'entity_type does not have a valid value',
    })
    expect((await world.root.get('/audit_events?created_after=soon')).json).toEqual({
      error: 'created_after is invalid',
    })
    const page = await world.root.get('/audit_events?pagination=keyset&per_page=2')
    expect(page.json).toHaveLength(2)
    expect(page.headers['link']).toContain('rel="next"')
  })
})
