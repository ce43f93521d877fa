import { contextFor } from '../../../../test/contexts.ts'
import { type ForgeData, smallForge } from '../../../../test/forge/data.ts'
import type { ForgeName } from '../../../../test/forge/dialects.ts'
import { FakeForge, forgeToken } from '../../../../test/forge/fake-forge.ts'
import { forgeGit } from '../../../../test/forge/repository.ts'
import { type Answer, type Client, unique, type World } from '../../../../test/world.ts'
import { importFromForge } from './jobs.ts'

/** A fake forge that imports of this world may reach. */
export async function forgeOf(world: World, name: ForgeName, data: ForgeData = smallForge()): Promise<FakeForge> {
  await world.settings({ outbound_local_requests_whitelist: ['127.0.0.1'] })
  return FakeForge.start(name, data, await gitOf(data))
}

/** The repository behind a fake forge. */
export function gitOf({ pulls }: ForgeData) {
  const branches = pulls.filter(({ fork, merged_at }) => !fork && !merged_at)
  return forgeGit(
    pulls.map(({ number }) => number),
    new Map(branches.map(({ number, branch }) => [number, branch])),
  )
}

/** Asks for an import. */
export const request = (who: Client, forge: FakeForge, more: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
  who.post(`/import/${forge.name}`, {
    personal_access_token: forgeToken,
    target_namespace: who.username,
    new_name: unique('imported'),
    ...(forge.name === 'github'
      ? { repo_id: 77, github_hostname: forge.origin }
      : { repo: 'ann/code', gitea_url: forge.origin }),
    ...more,
  })

/** Runs the job of an import once, as the jobs process does. False if there is none. */
export async function runOnce(world: World, projectId: number): Promise<boolean> {
  const jobs = await world.takeJobs(`import_from_forge:${projectId}`)
  for (const { payload } of jobs) await importFromForge.run(payload, await contextFor(world, null))
  return jobs.length > 0
}

/** Imports a repository, and returns the project and what is known of the import. */
export async function importOf(
  world: World,
  who: Client,
  forge: FakeForge,
  more: Readonly<Record<string, unknown>> = {},
): Promise<{ at: string; id: number; state: any }> {
  const { status, json, text } = await request(who, forge, more)
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${text}`)
  while (await runOnce(world, json.id));
  return { id: json.id, at: `/projects/${json.id}`, state: (await who.get(`/projects/${json.id}/import`)).json }
}
