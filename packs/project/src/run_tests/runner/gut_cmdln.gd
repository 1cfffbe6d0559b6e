# Takes the flags of GUT and writes its report.
extends SceneTree

const Suite := preload("res://addons/suite.gd")


func _initialize() -> void:
	var flags := {}
	for argument in OS.get_cmdline_args():
		if argument.begins_with("-g"):
			var parts := argument.split("=", true, 1)
			flags[parts[0]] = parts[1] if parts.size() == 2 else ""
	var config_file: String = flags.get("-gconfig", "res://.gutconfig.json")
	var config = {}
	if FileAccess.file_exists(config_file):
		config = JSON.parse_string(FileAccess.get_file_as_string(config_file))
	var folders: Array = config.get("dirs", [])
	if flags.has("-gdir"):
		folders = Array(flags["-gdir"].split(","))
	var scripts := []
	for folder in folders:
		Suite.scripts_below(folder, scripts)
	if flags.has("-gtest"):
		scripts.append_array(Array(flags["-gtest"].split(",")))
	var failed := 0
	var text := '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="GutTests" failures="0" tests="0">\n'
	for script in scripts:
		text += '<testsuite name="%s" tests="0" failures="0" skipped="0" time="0.1">\n' % script.trim_prefix("res://")
		for result in Suite.run(script):
			var said: String = result[1]
			var status: String = {"": "pass", "skip": "pending", "nothing": "no asserts"}.get(said, "fail")
			text += '<testcase name="%s" assertions="%d" status="%s" classname="%s" time="0.1">' % [
				result[0], 0 if said in ["skip", "nothing"] else 1, status, script.trim_prefix("res://")
			]
			if status == "fail":
				failed += 1
				text += '<failure message="failed"><![CDATA[%s\n      at line 7]]></failure>' % said
			elif status == "pending":
				text += '<skipped message="pending"><![CDATA[later]]></skipped>'
			text += "</testcase>\n"
		text += "</testsuite>\n"
	text += "</testsuites>"
	Suite.put(flags["-gjunit_xml_file"], text)
	if flags.has("-gexit"):
		quit(1 if failed else 0)
