import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { makeFolder, syncFolder } from '../../../kernel/durable.ts'
import { isMissing, namesIn } from '../../../kernel/missing.ts'
import { readLines } from '../../../kernel/read-lines.ts'
import type { ForgeItem } from './items.ts'

/** What is known of a page beside its items. */
export type PageHead = {
  /** Number of items that follow, a line each. */
  readonly items: number
  /** Query of the next page; null after the last. */
  readonly next: string | null
  /** Number of items that were left out, and why the first of them were. */
  readonly leftOut: number
  readonly reasons: readonly string[]
}

const maxLineBytes = 64 * 1024 * 1024

/**
 * The pages that an import has read, each a file. A page is there completely or not at all, also after a power loss, so that an
 * interrupted import goes on where it was.
 */
export class PageFiles {
  readonly folder: string

  constructor(ctx: Pick<Ctx, 'repositoriesDir'>, projectId: number) {
    this.folder = join(dirname(ctx.repositoriesDir), 'tmp', 'forges', String(projectId))
  }

  /** Creates the folder. Returns the bytes that are in it. */
  async prepare(): Promise<number> {
    await makeFolder(this.folder, 0o700)
    let bytes = 0
    for (const name of await readdir(this.folder)) bytes += (await stat(join(this.folder, name))).size
    return bytes
  }

  #path(resource: string, page: number): string {
    return join(this.folder, `${resource}.${page}`)
  }

  async save(resource: string, page: number, head: PageHead, items: readonly ForgeItem[]): Promise<number> {
    const path = this.#path(resource, page)
    const content = [head, ...items].map((each) => `${JSON.stringify(each)}\n`).join('')
    {
      await using file = await open(`${path}.new`, 'w', 0o600)
      await file.writeFile(content)
      await file.sync()
    }
    await rename(`${path}.new`, path)
    await syncFolder(this.folder)
    return Buffer.byteLength(content)
  }

  /** Undefined for a page that was not read yet. */
  async head(resource: string, page: number): Promise<PageHead | undefined> {
    for await (const { bytes } of this.#lines(resource, page)) return JSON.parse(bytes.toString()) as PageHead
    return undefined
  }

  /** The heads of all pages of a list. */
  async *heads(resource: string): AsyncGenerator<PageHead> {
    for (let page = 1; ; page++) {
      const head = await this.head(resource, page)
      if (!head) return
      yield head
    }
  }

  /** The items of all pages of a list, in their order. */
  async *items(resource: string): AsyncGenerator<ForgeItem> {
    for (let page = 1; ; page++) {
      let isThere = false
      for await (const { bytes, line } of this.#lines(resource, page)) {
        isThere = true
        if (line > 1) yield JSON.parse(bytes.toString()) as ForgeItem
      }
      if (!isThere) return
    }
  }

  async *#lines(resource: string, page: number): AsyncGenerator<{ bytes: Buffer; line: number }> {
    try {
      yield* readLines(createReadStream(this.#path(resource, page)), { maxBytes: maxLineBytes })
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Ids of projects with pages. */
export async function projectsWithPages(ctx: Pick<Ctx, 'repositoriesDir'>): Promise<number[]> {
  const names = await namesIn(join(dirname(ctx.repositoriesDir), 'tmp', 'forges'))
  return names.filter((name) => /^[1-9]\d{0,14}$/.test(name)).map(Number)
}
