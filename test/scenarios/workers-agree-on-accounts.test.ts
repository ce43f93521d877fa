import { FormData } from 'undici'
import { test } from 'vitest'
import { newGpgKey } from '../../src/modules/accounts/gpg-keys/testing.ts'
import { newPublicKey } from '../../src/modules/accounts/ssh-keys/testing.ts'
import { at, atFile, compareAfter, field, scene, status, total, write } from '../agreeing-workers.ts'
import { type Answer, madeBy, twoWorkers } from '../two-workers.ts'

/** The smallest picture, with other bytes at its end for another picture. */
const picture = (end = '') =>
  Buffer.concat([
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
    Buffer.from(end),
  ])

function form(field: string, bytes: Buffer): FormData {
  const sent = new FormData()
  sent.append(field, new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'image/png' }), 'a.png')
  return sent
}

test('accounts, avatars, keys and tokens are those of the last write, in each worker', async () => {
  const { workers } = await twoWorkers()
  const [one] = workers
  const { ann, bob, project, P } = await scene(one)
  await madeBy(one, `${P}/issues`, { title: 'One', assignee_ids: [ann.id] })
  const [annsKey, key] = [newPublicKey(), newPublicKey()]
  const avatars = '/uploads/-/system'
  const [ofProject, ofAnn] = [`${avatars}/project/avatar/${project.id}/a.png`, `${avatars}/user/avatar/${ann.id}/a.png`]
  const hasPicture = (path: string) => (answer: Answer) => JSON.stringify(answer.json).includes(path)
  await compareAfter(workers, [
    [
      write('PUT', P, form('avatar', picture())),
      [
        [at(P, hasPicture(ofProject)), false, true],
        [at('/projects', hasPicture(ofProject), null), false, true],
        [atFile(ofProject, status, null), 404, 200],
      ],
    ],
    [
      write('PUT', P, form('avatar', picture('another'))),
      [[atFile(ofProject, ({ json }) => String(json).endsWith('another'), null), false, true]],
    ],
    [
      write('PUT', P, { visibility: 'private' }),
      [
        [atFile(ofProject, status, null), 200, 404],
        // She has it already, and it is the same.
        [atFile(ofProject, status, ann.token), 200, 304],
      ],
    ],
    [
      write('PUT', P, { visibility: 'public' }),
      [
        [atFile(ofProject, status, null), 404, 200],
        [at(`${P}/issues`, status, bob.token), 404, 200],
      ],
    ],
    [
      write('PUT', '/user/avatar', form('avatar', picture()), ann.token),
      [
        [at(`/users/${ann.id}`, hasPicture(ofAnn), bob.token), false, true],
        [at(`${P}/issues`, hasPicture(ofAnn)), false, true],
        [at(`${P}/members`, hasPicture(ofAnn)), false, true],
        [atFile(ofAnn, status, null), 404, 200],
      ],
    ],
    [
      write('PUT', '/user/status', { message: 'away' }, ann.token),
      [[at(`/users/${ann.id}/status`, field('message')), null, 'away']],
    ],
    [
      write('POST', `/users/${ann.id}/follow`, undefined, bob.token),
      [
        [at(`/users/${ann.id}/followers`, total), 0, 1],
        [at(`/users/${bob.id}/following`, total), 0, 1],
      ],
    ],
    [
      write('POST', '/user/keys', { title: 'laptop', key: annsKey }, ann.token),
      [[at(`/users/${ann.id}/keys`, total), 0, 1]],
    ],
    [write('DELETE', '/user/keys/1', undefined, ann.token), [[at(`/users/${ann.id}/keys`, total), 1, 0]]],
    [
      write('POST', '/user/gpg_keys', { key: await newGpgKey('ann@example.com') }, ann.token),
      [[at(`/users/${ann.id}/gpg_keys`, total), 0, 1]],
    ],
    [
      write('POST', `/users/${ann.id}/emails`, { email: 'more@example.com', skip_confirmation: true }),
      [
        [at(`/users/${ann.id}/emails`, total), 0, 1],
        [at('/users?search=more@example.com', total), 0, 1],
      ],
    ],
    [
      write('PUT', `/users/${ann.id}/custom_attributes/place`, { value: 'here' }),
      [[at(`/users?with_custom_attributes=true&username=ann`, ({ json }) => json[0].custom_attributes.length), 0, 1]],
    ],
    [
      write('POST', `${P}/deploy_keys`, { title: 'robot', key }),
      [
        [at(`${P}/deploy_keys`, total), 0, 1],
        [at('/deploy_keys', total), 0, 1],
      ],
    ],
    [
      write('POST', `${P}/deploy_tokens`, { name: 'd', scopes: ['read_repository'] }),
      [[at(`${P}/deploy_tokens`, total), 0, 1]],
    ],
    [
      write('POST', `${P}/access_tokens`, { name: 't', scopes: ['api'], access_level: 30 }),
      [
        [at(`${P}/access_tokens`, total), 0, 1],
        [at(`${P}/members/all`, total), 2, 3],
      ],
    ],
    [
      write('PUT', `/users/${ann.id}`, { private_profile: true }),
      [[at(`/users/${ann.id}/events`, ({ json }) => json.length > 0, bob.token), true, false]],
    ],
    [
      write('PUT', `/users/${ann.id}`, { name: 'Annie' }),
      [[at(`${P}/users`, ({ json }) => json.some(({ name }: any) => name === 'Annie')), false, true]],
    ],
    [
      write('POST', `/users/${bob.id}/ban`),
      [[at('/users?search=bob', ({ json }) => json[0].state), 'active', 'banned']],
    ],
  ])
})
