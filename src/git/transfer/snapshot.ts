import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing, namesIn } from '../../kernel/missing.ts'
import { tarEnd, tarHeader, tarPadding } from '../format/tar.ts'
import { listRefs } from '../refs/refs.ts'
import { peeledRefsText } from '../refs/write-packed-refs.ts'
import type { Repository } from '../repository/repository.ts'

const config = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n'

/**
 * The repository as a tar of a bare repository: all refs, hidden ones included, and all objects. Pushes and maintenance may go
 * on. The refs are read first, and objects are never changed, so every object of a ref is in the tar: maintenance writes the new
 * pack before it removes what is in it, and new packs are listed again until there are none. One short process for the refs,
 * otherwise files; constant memory apart from names.
 */
export async function* snapshot(repo: Repository): AsyncGenerator<Buffer> {
  const now = new Date()
  const text = function* (path: string, content: string) {
    const bytes = Buffer.from(content)
    yield Buffer.concat([tarHeader(path, bytes.length, now), bytes, tarPadding(bytes.length)])
  }
  const dir = await repo.readDir()
  const refs = await listRefs(repo, 'refs/')
  yield* text('HEAD', await readFile(join(dir, 'HEAD'), 'utf8'))
  yield* text('config', config)
  yield* text('packed-refs', peeledRefsText(refs))
  for (const folder of ['refs/', 'refs/heads/', 'refs/tags/', 'objects/', 'objects/info/', 'objects/pack/'])
    yield tarHeader(folder, 0, now)
  // Other names are files that git has not finished writing.
  for (const folder of (await namesIn(join(dir, 'objects'))).filter((name) => /^[0-9a-f]{2}$/.test(name)))
    for (const name of await namesIn(join(dir, 'objects', folder)))
      if (/^[0-9a-f]{38,62}$/.test(name)) yield* files(dir, [`objects/${folder}/${name}`])
  const sent = new Set<string>()
  for (let found = true; found; ) {
    found = false
    for (const name of await namesIn(join(dir, 'objects/pack'))) {
      const pack = /^(pack-[0-9a-f]{40})\.idx$/.exec(name)?.[1]
      if (pack === undefined || sent.has(pack)) continue
      sent.add(pack)
      found = true
      yield* files(dir, [`objects/pack/${pack}.pack`, `objects/pack/${pack}.idx`])
    }
  }
  yield tarEnd()
}

/** All of these files, or none of them if one has been removed: an open file stays readable. */
async function* files(dir: string, paths: readonly string[]): AsyncGenerator<Buffer> {
  const opened: FileHandle[] = []
  try {
    for (const path of paths) opened.push(await open(join(dir, path)))
  } catch (error) {
    await Promise.all(opened.map((file) => file.close()))
    if (isMissing(error)) return
    throw error
  }
  try {
    for (const [index, file] of opened.entries()) {
      const { size, mtime } = await file.stat()
      yield tarHeader(paths[index]!, size, mtime)
      let read = 0
      for await (const chunk of file.createReadStream({ autoClose: false, ...(size > 0 && { end: size - 1 }) })) {
        read += (chunk as Buffer).length
        yield chunk as Buffer
      }
      if (read !== size) throw new Error(`a file of the repository has changed: ${paths[index]}`)
      yield tarPadding(size)
    }
  } finally {
    await Promise.all(opened.map((file) => file.close()))
  }
}
