import { fileURLToPath } from 'node:url'
import { readModules } from './boundaries/modules.ts'
import { folderGraph, violations } from './boundaries/rules.ts'
import { foreignWrites, writesByNameOf } from './boundaries/tables.ts'

// Checks import boundaries (ARCHITECTURE.md): `npm run boundaries` prints violations, `npm run boundaries -- --graph` the
// import graph.
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '')
const modules = [...(await readModules(root, 'src')), ...(await readModules(root, 'test'))]
if (process.argv.includes('--graph'))
  for (const [folder, imported] of [...folderGraph(modules)].sort())
    console.log(`${folder} → ${[...imported].sort().join(', ') || 'nothing'}`)
const found = [...violations(modules), ...foreignWrites(modules), ...writesByNameOf(modules)]
for (const { rule, file, what, instead } of found) console.log(`${file} ${what}\n  ${rule}: ${instead}`)
console.log(
  found.length === 0
    ? `${modules.length} files keep the boundaries`
    : `${found.length} violations in ${modules.length} files`,
)
process.exitCode = found.length === 0 ? 0 : 1
