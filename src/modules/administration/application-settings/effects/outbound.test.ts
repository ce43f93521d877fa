import type { World } from '../../../../../test/world.ts'
import { outbound } from '../../../../settings/declared/outbound.ts'
import { made, showEffects } from './testing.ts'

const importStatus = async (world: World, url: string) =>
  (await world.root.post('/projects', made({ import_url: url }))).status

showEffects(
  outbound,
  [
    [
      'D2-SETTINGS-IMPORT-SOURCES import_sources',
      { import_sources: ['manifest'] },
      (world) => importStatus(world, 'https://203.0.114.1/a.git'),
      201,
      403,
    ],
    [
      'allow_local_requests_from_web_hooks_and_services',
      { allow_local_requests_from_web_hooks_and_services: true },
      (world) => importStatus(world, 'http://10.0.0.1/a.git'),
      400,
      201,
    ],
    [
      'allow_local_requests_from_system_hooks',
      { allow_local_requests_from_system_hooks: false },
      async (world) => (await world.root.post('/hooks', { url: 'http://10.0.0.1/' })).status,
      201,
      422,
    ],
    [
      'outbound_local_requests_whitelist',
      { outbound_local_requests_whitelist: ['10.0.0.0/8'] },
      (world) => importStatus(world, 'http://10.0.0.1/a.git'),
      400,
      201,
    ],
    [
      'mirror_available',
      { mirror_available: false },
      async (world) => {
        const source = { import_url: 'https://203.0.114.1/a.git', mirror: true }
        return (await (await world.user()).post('/projects', made(source))).status
      },
      201,
      403,
    ],
    [
      'project_export_enabled',
      { project_export_enabled: false },
      async (world) => {
        const project = await world.project()
        return (await world.root.get(`/projects/${project.id}/export`)).status
      },
      200,
      404,
    ],
  ],
  // Tested elsewhere, because it takes several steps.
  [
    'dns_rebinding_protection_enabled',
    'max_import_size',
    'mirror_capacity_threshold',
    'mirror_max_capacity',
    'mirror_max_delay',
  ],
)
