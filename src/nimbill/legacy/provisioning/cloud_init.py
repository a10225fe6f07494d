"""User data for cloud-init: the configuration of the agent, and a service that runs it."""

import json

from nimbill.legacy.provisioning.provisioner import LaunchContext

# See docs/choices.md, agent-on-instances.

CONFIG_FILE = "/etc/nimbill/agent.json"
UNIT = "nimbill-agent.service"

# a systemd unit, so that the agent also runs after the instance was stopped and started
_UNIT_TEXT = f"""[Unit]
Description=Nimbill agent
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=/usr/bin/env nimbill agent --config {CONFIG_FILE}
Restart=on-failure
RestartSec=10
# 2: invalid configuration, 3: the stack no longer exists
RestartPreventExitStatus=2 3

[Install]
WantedBy=multi-user.target
"""


def build_user_data(context: LaunchContext, flag: str) -> str:
    """A cloud-config document, written as JSON because JSON is valid YAML and quotes safely."""
    config = {
        "address": context.address,
        "stack_id": context.stack_id,
        "flag": flag,
        "token": context.token,
    }
    document = {
        "write_files": [
            {
                "path": CONFIG_FILE,
                "owner": "root:root",
                "permissions": "0600",
                "content": json.dumps(config),
            },
            {
                "path": f"/etc/systemd/system/{UNIT}",
                "owner": "root:root",
                "permissions": "0644",
                "content": _UNIT_TEXT,
            },
        ],
        "runcmd": [["systemctl", "enable", "--now", "--no-block", UNIT]],
    }
    return f"#cloud-config\n{json.dumps(document, indent=1)}\n"
