import type { FormData } from 'undici'
import { expect } from 'vitest'
import { type Answer, type Ask, madeBy, userBy } from './two-workers.ts'

/** What a worker is asked for, and what of the answer counts. */
type Look = {
  readonly path: string
  readonly show: (answer: Answer) => unknown
  readonly token: string | null | undefined
}
export const at = (path: string, show: Look['show'], token?: string | null): Look => ({
  path: `/api/v4${path}`,
  show,
  token,
})
export const atFile = (path: string, show: Look['show'], token?: string | null): Look => ({ path, show, token })
export const status = ({ status }: Answer) => status
export const total = ({ total }: Answer) => total
export const field =
  (name: string) =>
  ({ json }: Answer) =>
    json[name]

export type Change = readonly [
  write: (ask: Ask) => Promise<Answer>,
  looks: readonly (readonly [look: Look, before: unknown, after: unknown])[],
]

export const write =
  (method: string, path: string, body?: object | FormData, token?: string) =>
  (ask: Ask): Promise<Answer> =>
    ask(method, `/api/v4${path}`, body, token)

export const lookBy = (worker: Ask, { path, token }: Look, headers?: Record<string, string>) =>
  worker('GET', path, undefined, token, headers)

/** Both workers show the same, with the same ETag, and neither calls it unchanged that was changed. */
async function compare(
  workers: readonly Ask[],
  look: Look,
  expected: unknown,
  when: string,
  etagBefore?: string,
): Promise<string | undefined> {
  const where = `${look.path} ${when}`
  const answers: Answer[] = []
  for (const worker of workers) {
    const answer = await lookBy(worker, look, etagBefore === undefined ? {} : { 'if-none-match': etagBefore })
    expect(look.show(answer), `${where}: ${JSON.stringify(answer.json).slice(0, 500)}`).toEqual(expected)
    answers.push(answer)
  }
  const [first, second] = answers as [Answer, Answer]
  expect([second.status, second.etag, second.json], where).toEqual([first.status, first.etag, first.json])
  if (first.etag !== undefined)
    for (const worker of workers)
      expect((await lookBy(worker, look, { 'if-none-match': first.etag })).status, where).toBe(304)
  return first.etag
}

/** The workers take turns in making a change; the other reads first. */
export async function compareAfter([one, other]: readonly [Ask, Ask], changes: readonly Change[]): Promise<void> {
  for (const [index, [change, looks]] of changes.entries()) {
    const [maker, onlooker] = index % 2 === 0 ? [one, other] : [other, one]
    const etags: (string | undefined)[] = []
    // The second time, it is cached.
    for (const [look, before] of looks) {
      await compare([onlooker, maker], look, before, `before change ${index}`)
      etags.push(await compare([onlooker, maker], look, before, `again before change ${index}`))
    }
    const answer = await change(maker)
    expect(answer.status, `change ${index}: ${JSON.stringify(answer.json)}`).toBeLessThan(300)
    for (const [each, [look, , after]] of looks.entries())
      await compare([onlooker, maker], look, after, `after change ${index}`, etags[each])
  }
}

/** A public group with a project of a member. */
export async function scene(one: Ask) {
  const [ann, bob] = [await userBy(one, 'ann'), await userBy(one, 'bob')]
  const group = await madeBy(one, '/groups', { name: 'Tools', path: 'tools', visibility: 'public' })
  const friends = await madeBy(one, '/groups', { name: 'Friends', path: 'friends', visibility: 'public' })
  const project = await madeBy(one, '/projects', {
    name: 'hammer',
    namespace_id: group.id,
    initialize_with_readme: true,
    default_branch: 'main',
    visibility: 'public',
    request_access_enabled: true,
  })
  await madeBy(one, `/projects/${project.id}/members`, { user_id: ann.id, access_level: 40 })
  return { ann, bob, group, friends, project, P: `/projects/${project.id}`, G: `/groups/${group.id}` }
}
