extends SceneTree
## Makes the generated corpus: scenes and resources of every class that can be made without a screen, with varied
## values, and a report of what the engine reads of each file once it is written.
##
## A value in the report is one text that loses nothing: floats by their bits, strings by their bytes.

## Classes that are left out, with the reason.
const LEFT_OUT := {
	&"Resource": "saved as the base of others",
	&"MissingResource": "stands for a class that is not there",
	&"MissingNode": "stands for a class that is not there",
	&"PackedScene": "saved as scenes are",
	&"ResourceImporter": "belongs to the editor",
	&"InstancePlaceholder": "comes from a scene, not from a class",
	&"CSharpScript": "not in every build",
}

## Properties that are not set to random values, with the reason.
const NOT_SET := {
	&"script": "a script of its own", &"name": "the node's name", &"owner": "no property of the file",
	&"multiplayer": "an object of the tree", &"resource_path": "where the file is",
	&"resource_local_to_scene": "copied on load", &"resource_scene_unique_id": "the saver's own",
	&"_data": "its setter takes only what it wrote", &"bundled": "its setter takes only what it wrote",
	&"mode": "changes what other properties mean while they are set",
	&"unique_name_in_owner": "two could collide", &"editor_description": "set by hand below",
	&"additional_rotation": "degrees in the file, radians of 32 bit in the class",
	&"scene_file_path": "makes an instance of it", &"physics_interpolation_mode": "set by hand below",
}

var rng := RandomNumberGenerator.new()
var report := {}
var made: Array[String] = []


func _init() -> void:
	var args := OS.get_cmdline_user_args()
	rng.seed = 4242
	if args[0] == "make":
		make_all(args[1])
	else:
		report_all(args[1])
	quit()


# -- values ------------------------------------------------------------------------------------------------

const WORDS: Array[String] = [
	"", "plain", "two\nlines", "cr\r\nlf", "tab\tquote\"back\\slash'", "Ünïcödé 名前 🎮", "[node name=\"X\"]",
	"; not a comment", "res://nothing.tres", "%s $x {y}", "a/b:c", " edge ", "\u0001\u001f\u007f", "\b\f",
	"ExtResource(\"1\")", "\\u0041", "é", "0x1F", "&\"n\"", "null",
]
const INTS: Array[int] = [
	0, 1, -1, 7, 255, 65536, 2147483647, -2147483648, 4294967296, 9007199254740993, 9223372036854775807,
	-9223372036854775807, -9223372036854775807 - 1,
]


func word() -> String:
	return WORDS[rng.randi_range(0, WORDS.size() - 1)]


func whole() -> int:
	return INTS[rng.randi_range(0, INTS.size() - 1)]


func real() -> float:
	match rng.randi_range(0, 11):
		0: return 0.0
		1: return 1.0
		2: return -0.5
		3: return 0.1
		4: return INF
		5: return -INF
		6: return NAN
		7: return 1e-7 * rng.randf()
		8: return 1e20 * rng.randf()
		9: return rng.randf_range(-1e6, 1e6)
		10: return float(rng.randi_range(-1000, 1000))
	var bytes := PackedByteArray()
	bytes.resize(8)
	bytes.encode_u32(0, rng.randi())
	bytes.encode_u32(4, rng.randi())
	return bytes.decode_double(0)


func tame() -> float:
	return snappedf(rng.randf_range(-100.0, 100.0), 0.001)


func v2() -> Vector2: return Vector2(tame(), real())
func v3() -> Vector3: return Vector3(tame(), real(), tame())
func v4() -> Vector4: return Vector4(real(), tame(), 0.1, real())
func i32() -> int: return int(rng.randi()) - 2147483648


func any(type: int, depth: int) -> Variant:
	match type:
		TYPE_NIL: return null
		TYPE_BOOL: return rng.randf() < 0.5
		TYPE_INT: return whole()
		TYPE_FLOAT: return real()
		TYPE_STRING: return word()
		TYPE_VECTOR2: return v2()
		TYPE_VECTOR2I: return Vector2i(i32(), i32())
		TYPE_RECT2: return Rect2(v2(), v2())
		TYPE_RECT2I: return Rect2i(i32(), i32(), 3, 4)
		TYPE_VECTOR3: return v3()
		TYPE_VECTOR3I: return Vector3i(i32(), 0, -1)
		TYPE_TRANSFORM2D: return Transform2D(v2(), v2(), v2())
		TYPE_VECTOR4: return v4()
		TYPE_VECTOR4I: return Vector4i(i32(), 1, 2, 3)
		TYPE_PLANE: return Plane(v3(), real())
		TYPE_QUATERNION: return Quaternion(tame(), tame(), 0.25, 1.0)
		TYPE_AABB: return AABB(v3(), v3())
		TYPE_BASIS: return Basis(v3(), v3(), v3())
		TYPE_TRANSFORM3D: return Transform3D(Basis(v3(), v3(), v3()), v3())
		TYPE_PROJECTION: return Projection(v4(), v4(), v4(), v4())
		TYPE_COLOR: return Color(rng.randf(), real(), 0.1, 1.0)
		TYPE_STRING_NAME: return StringName(word())
		TYPE_NODE_PATH: return NodePath(["", ".", "A/B", "../x:y:z", "/root/A", "A/é %u"][rng.randi_range(0, 5)])
		TYPE_DICTIONARY: return dictionary(depth)
		TYPE_ARRAY: return array(depth)
		TYPE_PACKED_BYTE_ARRAY:
			var bytes := PackedByteArray()
			for at in [0, 1, 4, 100, 300][rng.randi_range(0, 4)]:
				bytes.append(rng.randi_range(0, 255))
			return bytes
		TYPE_PACKED_INT32_ARRAY: return PackedInt32Array(several(i32))
		TYPE_PACKED_INT64_ARRAY: return PackedInt64Array(several(whole))
		TYPE_PACKED_FLOAT32_ARRAY: return PackedFloat32Array(several(real))
		TYPE_PACKED_FLOAT64_ARRAY: return PackedFloat64Array(several(real))
		TYPE_PACKED_STRING_ARRAY: return PackedStringArray(several(word))
		TYPE_PACKED_VECTOR2_ARRAY: return PackedVector2Array(several(v2))
		TYPE_PACKED_VECTOR3_ARRAY: return PackedVector3Array(several(v3))
		TYPE_PACKED_COLOR_ARRAY: return PackedColorArray(several(func() -> Color: return Color(real(), 1, 0.1, tame())))
		TYPE_PACKED_VECTOR4_ARRAY: return PackedVector4Array(several(v4))
	return null


func several(one: Callable) -> Array:
	var found := []
	for at in rng.randi_range(0, 5):
		found.append(one.call())
	return found


## Types that a file can hold and that any place takes.
func a_type(depth: int) -> int:
	while true:
		var type := rng.randi_range(0, TYPE_MAX - 1)
		if type in [TYPE_RID, TYPE_OBJECT, TYPE_CALLABLE, TYPE_SIGNAL]:
			continue
		if depth > 2 and type in [TYPE_ARRAY, TYPE_DICTIONARY]:
			continue
		return type
	return TYPE_NIL


func array(depth: int) -> Array:
	var kind := rng.randi_range(0, 3)
	if kind == 0:
		var type := a_type(3)
		while type == TYPE_NIL:
			type = a_type(3)
		var typed := Array([], type, &"", null)
		for at in rng.randi_range(0, 3):
			typed.append(any(type, 3))
		return typed
	if kind == 1 and depth < 2:
		var resources := Array([], TYPE_OBJECT, &"Gradient", null)
		for at in rng.randi_range(0, 2):
			resources.append(gradient())
		return resources
	var found := []
	for at in rng.randi_range(0, 4):
		found.append(any(a_type(depth + 1), depth + 1))
	return found


func dictionary(depth: int) -> Dictionary:
	if rng.randf() < 0.3:
		var types: Array = [[TYPE_STRING, TYPE_INT], [TYPE_STRING_NAME, TYPE_VECTOR2], [TYPE_INT, TYPE_ARRAY]]
		var pair: Array = types[rng.randi_range(0, 2)]
		var typed := Dictionary({}, pair[0], &"", null, pair[1], &"", null)
		for at in rng.randi_range(0, 3):
			typed[any(pair[0], 3)] = any(pair[1], 2)
		return typed
	var found := {}
	for at in rng.randi_range(0, 4):
		var key: Variant = any([TYPE_STRING, TYPE_STRING_NAME, TYPE_INT, TYPE_VECTOR2I][rng.randi_range(0, 3)], 3)
		found[key] = any(a_type(depth + 1), depth + 1)
	return found


func gradient() -> Gradient:
	var found := Gradient.new()
	found.resource_name = word()
	found.offsets = PackedFloat32Array([0.0, snappedf(rng.randf(), 0.01), 1.0])
	found.colors = PackedColorArray([Color.RED, Color(rng.randf(), 0.5, 0.1, 1), Color.BLUE])
	return found


func metas(object: Object, count: int) -> void:
	for at in count:
		var type := a_type(0)
		var value: Variant = any(type, 0)
		if value != null:
			object.set_meta("m%d_%s" % [at, type_string(type)], value)
	if rng.randf() < 0.5:
		var inner := Resource.new()
		inner.set_meta("inner", gradient())
		inner.set_meta("again", inner.get_meta("inner"))
		object.set_meta("nested", inner)


# -- properties --------------------------------------------------------------------------------------------

func vary(object: Object, depth: int) -> void:
	for property in object.get_property_list():
		var named: StringName = property.name
		if not property.usage & PROPERTY_USAGE_STORAGE or NOT_SET.has(named) or rng.randf() < 0.25:
			continue
		if property.usage & PROPERTY_USAGE_READ_ONLY or "/" in named or named.begins_with("metadata"):
			continue
		var value: Variant = within_hint(property, depth)
		if value != null:
			object.set(named, value)


func within_hint(property: Dictionary, depth: int) -> Variant:
	var hint: String = property.hint_string
	match int(property.type):
		TYPE_BOOL: return rng.randf() < 0.5
		TYPE_INT:
			if property.hint == PROPERTY_HINT_RANGE:
				var parts := hint.split(",")
				return clampi(rng.randi_range(0, 12), int(parts[0].to_float()), int(parts[1].to_float()))
			if property.hint == PROPERTY_HINT_ENUM:
				return rng.randi_range(0, maxi(0, hint.split(",").size() - 1)) if not ":" in hint else null
			return null if property.hint != PROPERTY_HINT_NONE else rng.randi_range(0, 4)
		TYPE_FLOAT:
			if property.hint == PROPERTY_HINT_RANGE:
				var parts := hint.split(",")
				var low := parts[0].to_float()
				return rng.randf_range(low, minf(parts[1].to_float(), low + 20.0))
			return rng.randf_range(0.1, 2.0)
		TYPE_STRING: return word() if property.hint == PROPERTY_HINT_NONE or property.hint == PROPERTY_HINT_MULTILINE_TEXT else null
		TYPE_STRING_NAME: return StringName("n" + str(rng.randi_range(0, 9))) if property.hint == PROPERTY_HINT_NONE else null
		TYPE_VECTOR2: return Vector2(rng.randf_range(0.1, 9), rng.randf_range(0.1, 9))
		TYPE_VECTOR3: return Vector3(rng.randf_range(0.1, 9), rng.randf_range(0.1, 9), 1.5)
		TYPE_VECTOR2I: return Vector2i(rng.randi_range(1, 9), rng.randi_range(1, 9))
		TYPE_VECTOR3I: return Vector3i(rng.randi_range(1, 9), 2, 3)
		TYPE_COLOR: return Color(rng.randf(), rng.randf(), rng.randf(), 0.5)
		TYPE_RECT2: return Rect2(1, 2, rng.randf_range(1, 9), 4.5)
		TYPE_NODE_PATH: return NodePath("../Other:x") if rng.randf() < 0.3 else null
		TYPE_PACKED_STRING_ARRAY: return PackedStringArray([word(), word()]) if property.hint == PROPERTY_HINT_NONE else null
		TYPE_OBJECT:
			if depth > 1 or property.hint != PROPERTY_HINT_RESOURCE_TYPE:
				return null
			var kind := hint.split(",")[rng.randi_range(0, hint.count(","))].strip_edges()
			return resource_of(StringName(kind), depth + 1)
	return null


func resource_of(kind: StringName, depth: int) -> Resource:
	if not ClassDB.class_exists(kind) or not ClassDB.can_instantiate(kind) or LEFT_OUT.has(kind):
		return null
	if not ClassDB.is_parent_class(kind, &"Resource") or ClassDB.is_parent_class(kind, &"Script"):
		return null
	var found: Resource = ClassDB.instantiate(kind)
	vary(found, depth)
	return found


# -- files -------------------------------------------------------------------------------------------------

func classes_below(base: StringName) -> Array[StringName]:
	var found: Array[StringName] = []
	for kind in ClassDB.get_class_list():
		if ClassDB.class_get_api_type(kind) == ClassDB.API_CORE and ClassDB.can_instantiate(kind) \
				and ClassDB.is_parent_class(kind, base) and not LEFT_OUT.has(StringName(kind)):
			found.append(StringName(kind))
	found.sort_custom(func(a: StringName, b: StringName) -> bool: return str(a) < str(b))
	return found


func save(what: Resource, path: String) -> void:
	var error := ResourceSaver.save(what, path)
	if error == OK:
		made.append(path)
	else:
		print("! not saved: ", path, " ", error_string(error))


func make_all(part: String) -> void:
	DirAccess.make_dir_recursive_absolute("res://gen")
	if part == "nodes":
		for kind in classes_below(&"Node"):
			for round in 2:
				print("> ", kind)
				scene_of(kind, round)
	elif part == "resources":
		for kind in classes_below(&"Resource"):
			for round in 2:
				print("> ", kind)
				var found := resource_of(kind, 0)
				if found != null:
					metas(found, 1 + round)
					save(found, "res://gen/r_%s_%d.tres" % [kind, round])
	else:
		for round in 120:
			var holder := Resource.new()
			metas(holder, 12)
			save(holder, "res://gen/v_%03d.tres" % round)
		for round in 40:
			compound(round)
	print("> made ", made.size())


func pack(root: Node, path: String) -> void:
	var scene := PackedScene.new()
	if scene.pack(root) == OK:
		save(scene, path)
	root.free()


func scene_of(kind: StringName, round: int) -> void:
	var root: Node = ClassDB.instantiate(kind)
	root.name = "Root"
	vary(root, 0)
	metas(root, 2)
	var other := Node2D.new()
	other.name = ["Other", "O'ther [x]", "名前 🎮"][rng.randi_range(0, 2)]
	other.editor_description = word()
	if rng.randf() < 0.5:
		other.add_to_group("all é", true)
		other.add_to_group("g\"q", true)
	root.add_child(other)
	other.owner = root
	if round == 1:
		var deep: Node = ClassDB.instantiate(kind)
		deep.name = "Deep"
		deep.unique_name_in_owner = true
		vary(deep, 1)
		other.add_child(deep)
		deep.owner = root
		deep.renamed.connect(root.queue_free, CONNECT_PERSIST | CONNECT_DEFERRED)
		other.visibility_changed.connect(other.set_meta.bind("k", v2()), CONNECT_PERSIST)
		other.child_entered_tree.connect(root.queue_free.unbind(1), CONNECT_PERSIST | CONNECT_ONE_SHOT)
	pack(root, "res://gen/n_%s_%d.tscn" % [kind, round])


## A scene that instances one made before, with an override inside, and one that inherits it.
func compound(round: int) -> void:
	var base := Control.new()
	base.name = "Base"
	for at in 3:
		var child := Label.new()
		child.name = "L%d" % at
		child.text = word()
		metas(child, 1)
		base.add_child(child)
		child.owner = base
	var base_path := "res://gen/c_%02d_base.tscn" % round
	pack(base, base_path)
	var holder := Node.new()
	holder.name = "Holder"
	for at in 2:
		var inst: Node = (load(base_path) as PackedScene).instantiate()
		inst.name = "Inst%d" % at
		holder.add_child(inst)
		inst.owner = holder
		inst.set_meta("at", any(a_type(0), 0))
		if at == 1:
			holder.set_editable_instance(inst, true)
			(inst.get_node("L1") as Label).text = word()
			var more := Node.new()
			more.name = "More"
			inst.get_node("L1").add_child(more)
			more.owner = holder
			more.tree_entered.connect(holder.set_meta.bind("k", [1, &"n"]), CONNECT_PERSIST)
	pack(holder, "res://gen/c_%02d_holder.tscn" % round)
	var derived: Node = (load(base_path) as PackedScene).instantiate(PackedScene.GEN_EDIT_STATE_MAIN_INHERITED)
	(derived.get_node("L0") as Label).text = word()
	pack(derived, "res://gen/c_%02d_derived.tscn" % round)


# -- report ------------------------------------------------------------------------------------------------

func files_below(folder: String) -> Array[String]:
	var found: Array[String] = []
	for file in DirAccess.get_files_at(folder):
		if file.get_extension() in ["tscn", "tres"]:
			found.append(folder.path_join(file))
	for inner in DirAccess.get_directories_at(folder):
		if not inner.begins_with(".") and not FileAccess.file_exists(folder.path_join(inner).path_join(".gdignore")):
			found.append_array(files_below(folder.path_join(inner)))
	return found


func report_all(folder: String) -> void:
	var files := files_below(folder)
	for path in files:
		var file := path.trim_prefix(folder)
		print("> ", path)
		var found := ResourceLoader.load(path, "", ResourceLoader.CACHE_MODE_IGNORE)
		if found == null:
			report[file] = null
			continue
		subs = {}
		var entry := {}
		if found is PackedScene:
			entry = scene_report((found as PackedScene).get_state())
			var root := (found as PackedScene).instantiate()
			entry.instantiates = root != null
			if root != null:
				root.free()
		else:
			entry = {"class": found.get_class(), "values": object_report(found)}
		entry.subs = subs
		report[file] = entry
	var out := FileAccess.open("res://report.json", FileAccess.WRITE)
	out.store_string(JSON.stringify(report))
	out.close()
	print("> reported ", files.size())


var subs := {}


func scene_report(state: SceneState) -> Dictionary:
	var nodes := []
	for at in state.get_node_count():
		var values := {}
		for property in state.get_node_property_count(at):
			values[text_hex(state.get_node_property_name(at, property))] = canon(state.get_node_property_value(at, property))
		var instance := state.get_node_instance(at)
		nodes.append({
			"name": text_hex(state.get_node_name(at)), "class": state.get_node_type(at),
			"path": text_hex(str(state.get_node_path(at))), "groups": Array(state.get_node_groups(at)).map(text_hex),
			"instance": instance.resource_path if instance else "", "values": values,
		})
	var connections := []
	for at in state.get_connection_count():
		connections.append([
			text_hex(str(state.get_connection_source(at))), state.get_connection_signal(at),
			text_hex(str(state.get_connection_target(at))), state.get_connection_method(at),
			state.get_connection_flags(at), state.get_connection_unbinds(at), canon(state.get_connection_binds(at)),
		])
	return {"nodes": nodes, "connections": connections}


func object_report(object: Object) -> Dictionary:
	var values := {}
	for property in object.get_property_list():
		if property.usage & PROPERTY_USAGE_STORAGE and property.name != "script":
			values[text_hex(property.name)] = canon(object.get(property.name))
	return values


func text_hex(text: Variant) -> String:
	return str(text).to_utf8_buffer().hex_encode()


func double_hex(number: float) -> String:
	if is_nan(number):
		return "nan"
	var bytes := PackedByteArray()
	bytes.resize(8)
	bytes.encode_double(0, number)
	return bytes.hex_encode()


func single_hex(number: float) -> String:
	if is_nan(number):
		return "nan"
	var bytes := PackedByteArray()
	bytes.resize(4)
	bytes.encode_float(0, number)
	return bytes.hex_encode()


func joined(parts: Array) -> String:
	return ",".join(PackedStringArray(parts))


func singles(type: String, numbers: Array) -> String:
	return type + "(" + joined(numbers.map(single_hex)) + ")"


func wholes(type: String, numbers: Array) -> String:
	return type + "(" + joined(numbers.map(func(one: int) -> String: return str(one))) + ")"


func canon(value: Variant) -> String:
	var type := type_string(typeof(value))
	match typeof(value):
		TYPE_NIL: return "null"
		TYPE_BOOL: return "true" if value else "false"
		TYPE_INT: return "i" + str(value)
		TYPE_FLOAT: return "f" + double_hex(value)
		TYPE_STRING: return "s" + text_hex(value)
		TYPE_STRING_NAME: return "n" + text_hex(value)
		TYPE_NODE_PATH: return "p" + text_hex(value)
		TYPE_VECTOR2: return singles(type, [value.x, value.y])
		TYPE_VECTOR3: return singles(type, [value.x, value.y, value.z])
		TYPE_VECTOR4, TYPE_QUATERNION: return singles(type, [value.x, value.y, value.z, value.w])
		TYPE_COLOR: return singles(type, [value.r, value.g, value.b, value.a])
		TYPE_PLANE: return singles(type, [value.x, value.y, value.z, value.d])
		TYPE_RECT2: return singles(type, [value.position.x, value.position.y, value.size.x, value.size.y])
		TYPE_AABB:
			return singles(type, [value.position.x, value.position.y, value.position.z, value.size.x, value.size.y, value.size.z])
		TYPE_TRANSFORM2D:
			return singles(type, [value.x.x, value.x.y, value.y.x, value.y.y, value.origin.x, value.origin.y])
		TYPE_BASIS: return singles(type, rows(value))
		TYPE_TRANSFORM3D: return singles(type, rows(value.basis) + [value.origin.x, value.origin.y, value.origin.z])
		TYPE_PROJECTION:
			var numbers := []
			for column in 4:
				for row in 4:
					numbers.append(value[column][row])
			return singles(type, numbers)
		TYPE_VECTOR2I: return wholes(type, [value.x, value.y])
		TYPE_VECTOR3I: return wholes(type, [value.x, value.y, value.z])
		TYPE_VECTOR4I: return wholes(type, [value.x, value.y, value.z, value.w])
		TYPE_RECT2I: return wholes(type, [value.position.x, value.position.y, value.size.x, value.size.y])
		TYPE_PACKED_BYTE_ARRAY: return "PackedByteArray(" + value.hex_encode() + ")"
		TYPE_PACKED_INT32_ARRAY, TYPE_PACKED_INT64_ARRAY: return wholes(type, Array(value))
		TYPE_PACKED_FLOAT32_ARRAY: return singles(type, Array(value))
		TYPE_PACKED_FLOAT64_ARRAY: return type + "(" + joined(Array(value).map(double_hex)) + ")"
		TYPE_PACKED_STRING_ARRAY: return type + "(" + joined(Array(value).map(text_hex)) + ")"
		TYPE_PACKED_VECTOR2_ARRAY, TYPE_PACKED_VECTOR3_ARRAY, TYPE_PACKED_VECTOR4_ARRAY, TYPE_PACKED_COLOR_ARRAY:
			var numbers := []
			for one: Variant in value:
				for axis in {TYPE_VECTOR2: 2, TYPE_VECTOR3: 3, TYPE_VECTOR4: 4, TYPE_COLOR: 4}[typeof(one)]:
					numbers.append(one[axis])
			return singles(type, numbers)
		TYPE_ARRAY:
			var items := joined(value.map(canon))
			return "[" + element(value) + items + "]"
		TYPE_DICTIONARY:
			var pairs := []
			for key: Variant in value:
				pairs.append(canon(key) + ":" + canon(value[key]))
			return "{" + pair_of(value) + joined(pairs) + "}"
		TYPE_OBJECT: return resource_text(value)
	return type


func rows(basis: Basis) -> Array:
	# The file has a basis row by row.
	return [basis.x.x, basis.y.x, basis.z.x, basis.x.y, basis.y.y, basis.z.y, basis.x.z, basis.y.z, basis.z.z]


func kind_of(builtin: int, named: StringName, script: Variant) -> String:
	if script != null:
		return "E" + (script as Script).resource_path
	return str(named) if named != &"" else type_string(builtin)


func element(value: Array) -> String:
	return "<" + kind_of(value.get_typed_builtin(), value.get_typed_class_name(), value.get_typed_script()) + ">" if value.is_typed() else ""


func pair_of(value: Dictionary) -> String:
	if not value.is_typed():
		return ""
	var key := kind_of(value.get_typed_key_builtin(), value.get_typed_key_class_name(), value.get_typed_key_script()) if value.is_typed_key() else "Variant"
	var of := kind_of(value.get_typed_value_builtin(), value.get_typed_value_class_name(), value.get_typed_value_script()) if value.is_typed_value() else "Variant"
	return "<" + key + "|" + of + ">"


func resource_text(object: Object) -> String:
	var found := object as Resource
	if found == null:
		return "null" if object == null else "O" + object.get_class()
	if not "::" in found.resource_path:
		return "E" + found.resource_path
	var id := found.resource_path.get_slice("::", 1)
	if not subs.has(id):
		subs[id] = {}
		subs[id] = {"class": found.get_class(), "values": object_report(found)}
	return "S" + id
