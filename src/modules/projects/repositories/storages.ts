import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { missingAs } from '../../../kernel/missing.ts'
import { isStorageName } from './location.ts'

const isFolder = (path: string): Promise<boolean> => stat(path).then((found) => found.isDirectory(), missingAs(false))

/** The names among these of storages, which are folders, that do not exist. `default` is created on first use. */
export async function unknownStorages(
  { repositoriesDir }: Pick<Ctx, 'repositoriesDir'>,
  names: readonly string[],
): Promise<string[]> {
  const known = await Promise.all(
    names.map(
      async (name) => name === 'default' || (isStorageName(name) && (await isFolder(join(repositoriesDir, name)))),
    ),
  )
  return names.filter((_, index) => !known[index])
}
