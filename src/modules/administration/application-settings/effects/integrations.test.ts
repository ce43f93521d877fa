import { integrations } from '../../../../settings/declared/integrations.ts'
import { showEffects } from './testing.ts'

showEffects(integrations, [
  [
    'monitoring_metrics_enabled',
    { monitoring_metrics_enabled: false },
    async ({ anonymous }) => (await anonymous.get('//-/metrics')).status,
    200,
    404,
  ],
])
