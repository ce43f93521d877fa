import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { formatSource } from './sql-format/source.ts'

/** Folders whose statements are formatted. */
const folders = ['src']

/*
 * Formats the SQL of `sql` templates: `npm run sql` writes, `npm run check` fails on files that it would change. A statement
 * in one line that is not too long stays as it is. Names of folders replace the list.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const isWriting = process.argv.includes('--write')
const named = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const listed = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...(named.length > 0 ? named : folders)],
  { cwd: root },
)
const files = String(listed)
  .split('\0')
  .filter((file) => file.endsWith('.ts'))

/** Formats all files; returns those that change. */
function formatAll(): string[] {
  return files.filter((file) => {
    const source = readFileSync(`${root}/${file}`, 'utf8')
    if (!source.includes('sql`')) return false
    const { source: formatted, skipped } = formatSource(file, source)
    for (const statement of skipped) console.log(`not formatted: ${statement}`)
    if (isWriting && formatted !== source) writeFileSync(`${root}/${file}`, formatted)
    return formatted !== source
  })
}

let changed = formatAll()
if (!isWriting && changed.length > 0) {
  console.log(`${changed.join('\n')}\nhave SQL that is not formatted: npm run sql`)
  process.exitCode = 1
} else if (changed.length === 0) console.log('all SQL is formatted')
// Code around a statement that is now shorter may fit into fewer lines, and the statement moves with it.
for (let round = 0; isWriting && changed.length > 0 && round < 5; round++) {
  console.log(`formatted ${changed.join(', ')}`)
  execFileSync('npx', ['biome', 'format', '--write', ...changed], { cwd: root, stdio: 'ignore' })
  changed = formatAll()
}
