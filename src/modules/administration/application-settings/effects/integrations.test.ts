import { integrations } from '../../../../settings/declared/integrations.ts'
import { showEffects } from './testing.ts'

showEffects(
  integrations,
  [
    [
      'monitoring_metrics_enabled',
      { monitoring_metrics_enabled: false },
      async ({ anonymous }) => (await anonymous.get('//-/metrics')).status,
      200,
      404,
    ],
  ],
  // Tested in text/markdown/settings.test.ts, because they take effect after a restart.
  ['asset_proxy_enabled', 'asset_proxy_secret_key', 'asset_proxy_url', 'asset_proxy_whitelist'],
)
