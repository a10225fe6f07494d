"""What a new instance is given to start with: its agent's configuration, and the agent itself."""

import json

from nimbill.foundation.basis import chosen
from nimbill.legacy.provisioning.provisioner import Order

basis = chosen("agent-on-instances")

CONFIG_FILE = "/etc/nimbill/agent.json"
UNIT = "nimbill-agent.service"

# a unit, and not a command alone: an instance that is stopped and started has its agent again
_UNIT_TEXT = f"""[Unit]
Description=Nimbill agent
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=/usr/bin/env nimbill agent --config {CONFIG_FILE}
Restart=on-failure
RestartSec=10
# 2: unusable configuration, 3: the stack is gone
RestartPreventExitStatus=2 3

[Install]
WantedBy=multi-user.target
"""


def user_data(order: Order, flag: str) -> str:
    """A cloud-config document; JSON is YAML, and quotes whatever must be quoted."""
    config = {
        "address": order.address,
        "stack_id": order.stack_id,
        "flag": flag,
        "token": order.token,
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
