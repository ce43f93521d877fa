import { Readable } from 'node:stream'
import { createGunzip, gzipSync } from 'node:zlib'
import { FormData, request } from 'undici'
import { expect } from 'vitest'
import { contextFor } from '../../../test/contexts.ts'
import type { Service } from '../../../test/service.ts'
import { type Answer, Client, unique, type World } from '../../../test/world.ts'
import { storedProject } from '../repository/commits/testing.ts'
import { readTar } from './archive/tar-reader.ts'
import { exportArchive } from './exports/jobs.ts'
import { importGroupArchive } from './imports/group-jobs.ts'
import { importArchive } from './imports/jobs.ts'

/** Runs the exports that wait, as the jobs process does. */
export async function runExports(world: World): Promise<void> {
  for (const { payload } of await world.takeJobs('export_archive:%'))
    await exportArchive.run(payload, await contextFor(world, null))
}

/** Runs the import of a project, as the jobs process does. */
export async function runImport(world: World, projectId: number): Promise<void> {
  for (const { payload } of await world.takeJobs(`import_archive:${projectId}`))
    await importArchive.run(payload, await contextFor(world, null))
}

/** An administrator who has not exported anything in the last minutes. */
export const freshAdministrator = (world: World): Promise<Client> => world.user({ admin: true })

/** A new administrator of a service: a user starts one export in five minutes. */
export async function administrator({ root, origin }: Pick<Service, 'root' | 'origin'>): Promise<Client> {
  const username = unique('admin')
  const made = await root.post('/users', {
    username,
    name: username,
    email: `${username}@example.com`,
    password: 'correct horse battery',
    admin: true,
    skip_confirmation: true,
  })
  const token = await root.post(`/users/${made.json.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })
  return new Client(origin, { id: made.json.id, username, token: token.json.token })
}

export async function download(world: Pick<World, 'origin'>, who: Client, at: string) {
  const answer = await request(`${world.origin}/api/v4${at}`, { headers: { 'private-token': who.token! } })
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: Buffer.from(await answer.body.arrayBuffer()),
  }
}

/** Exports a project and returns the archive. */
export async function exportOf(world: World, projectId: number, who?: Client): Promise<Buffer> {
  const by = who ?? (await freshAdministrator(world))
  expect((await by.post(`/projects/${projectId}/export`)).status).toBe(202)
  await runExports(world)
  const { status, body } = await download(world, by, `/projects/${projectId}/export/download`)
  expect(status).toBe(200)
  return body
}

/** The entries of an archive by their names. */
export async function entriesOf(archive: Buffer): Promise<Map<string, Buffer>> {
  const entries = new Map<string, Buffer>()
  for await (const { name, body } of readTar(Readable.from([archive]).pipe(createGunzip()))) {
    const parts: Buffer[] = []
    for await (const part of body) parts.push(part)
    entries.set(name, Buffer.concat(parts))
  }
  return entries
}

/** Records of a relation in an archive. */
export const recordsOf = (entries: ReadonlyMap<string, Buffer>, name: string): any[] =>
  (entries.get(`tree/project/${name}.ndjson`)?.toString() ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** Sends an archive; `fields` are further fields of the form. */
export function upload(
  who: Client,
  archive: Buffer,
  fields: Readonly<Record<string, string>> = {},
  path = '/projects/import',
): Promise<Answer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([new Uint8Array(archive)]), 'archive.tar.gz')
  return who.send('POST', path, { body: form })
}

/** Imports an archive into a new project and returns its id and what is known of the import. */
export async function importOf(
  world: World,
  archive: Buffer,
  who: Client = world.root,
  fields: Readonly<Record<string, string>> = {},
): Promise<{ id: number; path: string; import_status: string; import_error: string | null }> {
  const path = unique('imported')
  const made = await upload(who, archive, { path, ...fields })
  if (made.status !== 201) throw new Error(`expected 201, got ${made.status}: ${made.text}`)
  await runImport(world, made.json.id)
  const { json } = await who.get(`/projects/${made.json.id}/import`)
  return { ...json, path }
}

/** Runs the imports of groups that wait, as the jobs process does. */
export async function runGroupImports(world: World): Promise<void> {
  for (const { payload } of await world.takeJobs('import_group_archive:%'))
    await importGroupArchive.run(payload, await contextFor(world, null))
}

/** Exports a group and returns the archive. */
export async function groupExportOf(world: World, groupId: number, who?: Client): Promise<Buffer> {
  const by = who ?? (await freshAdministrator(world))
  expect((await by.post(`/groups/${groupId}/export`)).status).toBe(202)
  await runExports(world)
  const { status, body } = await download(world, by, `/groups/${groupId}/export/download`)
  expect(status).toBe(200)
  return body
}

/** An entry of a crafted archive. */
export type Crafted = {
  readonly name: string | Buffer
  readonly content?: string | Buffer
  /** Type of the entry: `2` is a symbolic link. Default: a file. */
  readonly type?: string
  readonly link?: string
  /** Size in the header, if it is not that of the content. */
  readonly size?: number
  /** Damages the checksum. */
  readonly damaged?: true
}

/** A tar of entries, as no program writes it. */
export function craftTar(entries: readonly Crafted[], { end = true }: { readonly end?: boolean } = {}): Buffer {
  const blocks = entries.map(({ name, content = '', type = '0', link = '', size, damaged }) => {
    const bytes = Buffer.from(content as string)
    const header = Buffer.alloc(512)
    Buffer.from(name as string).copy(header, 0, 0, 100)
    header.write('0000600\0', 100, 'latin1')
    header.write(`${(size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124, 'latin1')
    header.write('00000000000\0', 136, 'latin1')
    header.fill(' ', 148, 156)
    header.write(type, 156, 'latin1')
    header.write(link, 157, 'utf8')
    header.write('ustar\u000000', 257, 'latin1')
    const sum = header.reduce((all, byte) => all + byte, 0) + (damaged ? 1 : 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
    return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
  })
  return Buffer.concat([...blocks, Buffer.alloc(end ? 1024 : 0)])
}

/** A gzip of a crafted tar. */
export const craft = (entries: readonly Crafted[]): Buffer => gzipSync(craftTar(entries), { level: 1 })

/** The archive of a public project of two users with an issue, a note of each, and a commit. */
export async function stagedArchive(world: World) {
  const [ann, ben] = [await world.user(), await world.user()]
  const project = await storedProject(world, { members: [[ann, 'maintainer']] })
  project.repository.commit({ 'README.md': 'Read me\n' })
  const at = `/projects/${project.id}`
  await world.root.put(at, { description: 'Described', visibility: 'public' })
  await ann.post(`${at}/issues`, { title: 'Mine', labels: 'bug' })
  await ben.post(`${at}/issues/1/notes`, { body: 'From Ben' })
  await ben.post(`${at}/issues/1/notes`, { body: '# Heading' })
  return { ann, ben, project, archive: await exportOf(world, project.id) }
}
