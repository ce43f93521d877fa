import type { World } from '../world.ts'
import { ago, change, find } from './statements.ts'

/** Makes the finished archive of a project older. */
export const ageExports = (world: World, projectId: number, by: string) =>
  change(world, 'finished_exports', { project_id: projectId }, { created_at: ago(by) })

/** Exports of a project that wait or run. */
export const exportRequests = (world: World, projectId: number) =>
  find(world, 'export_requests', { project_id: projectId }, ['id', 'state', 'attempts'])

/** Archives that wait to be imported. */
export const archiveImports = (world: World, projectId: number) =>
  find(world, 'archive_imports', { project_id: projectId }, ['id', 'attempts'])

/** Imports of a project from another forge that wait or run. */
export const forgeImports = (world: World, projectId: number) =>
  find(world, 'forge_imports', { project_id: projectId }, ['sealed_token', 'fruitless'])
