SELECT nickname FROM load_agent_caller($1, $2, $3)
