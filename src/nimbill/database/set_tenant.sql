SELECT set_config('nimbill.organisation', $1, true)
