import type { Oid } from '../../../git/format/oid.ts'
import { blobSize, readBlob } from '../../../git/objects/blobs.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { readTree } from '../../../git/objects/trees.ts'
import { memoize } from '../../../git/repository/memoize.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { licenseKeyOf } from './licenses.ts'

/** Facts about the root of the default branch that records show; null if absent. */
export type RootFiles = {
  readonly readmePath: string | null
  readonly licensePath: string | null
  /** See `licenses.ts`. */
  readonly licenseKey: string | null
}

export const noRootFiles: RootFiles = { readmePath: null, licensePath: null, licenseKey: null }

const maxLicenseBytes = 200 * 1024

/** README and licence at the root of a commit. A few reads the first time, then cached; starts no process. */
export async function rootFilesAt(repo: Repository, oid: Oid): Promise<RootFiles> {
  const commit = await readCommit(repo, oid)
  const files = ((commit && (await readTree(repo, commit.tree))) ?? []).filter(({ type }) => type === 'blob')
  const license = files.find(({ name }) => /^((un)?licen[sc]e|copying)(\..*)?$/i.test(name))
  return {
    readmePath: readmeAmong(files.map(({ name }) => name)) ?? null,
    licensePath: license?.name ?? null,
    licenseKey: (license && (await licenseKeyAt(repo, license.oid))) ?? null,
  }
}

async function licenseKeyAt(repo: Repository, blob: Oid): Promise<string | undefined> {
  const judge = async (repo: Repository) => {
    // A file above the size limit cannot be a known licence, so it is not read.
    if (((await blobSize(repo, blob)) ?? 0) > maxLicenseBytes) return { key: licenseKeyOf('') }
    const text = (await readBlob(repo, blob))?.content.toString('utf8')
    return text === undefined ? undefined : { key: licenseKeyOf(text) }
  }
  return (await memoize(repo, `license ${blob}`, judge, () => 50))?.key
}

const rendered = /\.(md|markdown|mdown|mkdn?|adoc|asciidoc|ad|rst|org|creole|textile|mediawiki|wiki|rdoc|pod)$/i

/** Files named `readme`, ignoring case; those in a format that can be rendered come first. */
const readmeAmong = (names: readonly string[]): string | undefined => {
  const candidates = names.filter((name) => /^readme(\..*)?$/i.test(name))
  return candidates.find((name) => rendered.test(name)) ?? candidates[0]
}
